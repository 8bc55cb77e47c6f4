// The loops that a C programmer writes for one layout, compiled for this machine (-O3 -march=native): the yardstick.
#pragma once

#include <cstddef>

#include "kernel/copy/copy.h"

namespace millrace::kernel::bench {

struct Particle {  // {int, double, char[3]}
  int kind;
  double mass;
  char name[3];
};

// count: packed elements of the layout's own unit (see hand.cpp).
void hand_pack_vector_2_3_int(void* packed, const void* base, std::size_t blocks);
void hand_unpack_vector_2_3_int(void* base, const void* packed, std::size_t blocks);
void hand_pack_vector_1_2_int(void* packed, const void* base, std::size_t blocks);
void hand_unpack_vector_1_2_int(void* base, const void* packed, std::size_t blocks);
void hand_pack_doubles(void* packed, const void* base, std::size_t blocks, std::size_t block_doubles,
                       std::ptrdiff_t stride_doubles);
void hand_unpack_doubles(void* base, const void* packed, std::size_t blocks, std::size_t block_doubles,
                         std::ptrdiff_t stride_doubles);
void hand_pack_vector_4_8_double(void* packed, const void* base, std::size_t blocks);
void hand_unpack_vector_4_8_double(void* base, const void* packed, std::size_t blocks);
void hand_pack_vector_3_5_char(void* packed, const void* base, std::size_t blocks);
void hand_unpack_vector_3_5_char(void* base, const void* packed, std::size_t blocks);
void hand_pack_particles(void* packed, const void* base, std::size_t particles);
void hand_unpack_particles(void* base, const void* packed, std::size_t particles);
void hand_pack_pieces(void* packed, const void* base, const Piece* pieces, std::size_t count);
void hand_unpack_pieces(void* base, const void* packed, const Piece* pieces, std::size_t count);
void hand_pack_listed_double(void* packed, const void* base, const std::ptrdiff_t* displacements, std::size_t count);
void hand_unpack_listed_double(void* base, const void* packed, const std::ptrdiff_t* displacements, std::size_t count);

}  // namespace millrace::kernel::bench
