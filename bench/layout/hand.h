// The loops that a programmer writes instead of a datatype, compiled for the machine at hand: the yardstick.
#pragma once

#include <cstddef>

namespace millrace::bench {

// Both directions over `count` elements of one of the layouts in layout_speed.cpp.
struct Hand {
  void (*pack)(const char* memory, char* packed, std::size_t count);
  void (*unpack)(char* memory, const char* packed, std::size_t count);
};

extern const Hand hand_vector_2_3_int, hand_vector_1_2_int, hand_vector_4_8_double, hand_column, hand_struct, hand_tile;
extern const Hand hand_indexed, hand_random, hand_transposed;

// Set before use: rows and columns of the transposed matrix; the lists.
extern std::size_t hand_side;
extern const std::size_t* list_displacements;  // in doubles
extern const std::size_t* list_lengths;

}  // namespace millrace::bench
