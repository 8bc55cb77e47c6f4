#include "hand.h"

#include <cstring>

namespace millrace::kernel::bench {
namespace {

template <class T, std::size_t Block, std::size_t Stride>
void pack_fixed(void* packed, const void* base, std::size_t blocks) {
  T* __restrict to = static_cast<T*>(packed);
  const T* __restrict from = static_cast<const T*>(base);
  for (std::size_t i = 0; i < blocks; ++i)
    for (std::size_t j = 0; j < Block; ++j) to[i * Block + j] = from[i * Stride + j];
}
template <class T, std::size_t Block, std::size_t Stride>
void unpack_fixed(void* base, const void* packed, std::size_t blocks) {
  T* __restrict to = static_cast<T*>(base);
  const T* __restrict from = static_cast<const T*>(packed);
  for (std::size_t i = 0; i < blocks; ++i)
    for (std::size_t j = 0; j < Block; ++j) to[i * Stride + j] = from[i * Block + j];
}

constexpr std::size_t particle_packed_bytes = sizeof(int) + sizeof(double) + 3;

}  // namespace

void hand_pack_vector_2_3_int(void* packed, const void* base, std::size_t n) { pack_fixed<int, 2, 3>(packed, base, n); }
void hand_unpack_vector_2_3_int(void* base, const void* packed, std::size_t n) {
  unpack_fixed<int, 2, 3>(base, packed, n);
}
void hand_pack_vector_1_2_int(void* packed, const void* base, std::size_t n) { pack_fixed<int, 1, 2>(packed, base, n); }
void hand_unpack_vector_1_2_int(void* base, const void* packed, std::size_t n) {
  unpack_fixed<int, 1, 2>(base, packed, n);
}
void hand_pack_vector_4_8_double(void* packed, const void* base, std::size_t n) {
  pack_fixed<double, 4, 8>(packed, base, n);
}
void hand_unpack_vector_4_8_double(void* base, const void* packed, std::size_t n) {
  unpack_fixed<double, 4, 8>(base, packed, n);
}
void hand_pack_vector_3_5_char(void* packed, const void* base, std::size_t n) {
  pack_fixed<char, 3, 5>(packed, base, n);
}
void hand_unpack_vector_3_5_char(void* base, const void* packed, std::size_t n) {
  unpack_fixed<char, 3, 5>(base, packed, n);
}

void hand_pack_doubles(void* packed, const void* base, std::size_t blocks, std::size_t block_doubles,
                       std::ptrdiff_t stride_doubles) {
  double* __restrict to = static_cast<double*>(packed);
  const double* __restrict from = static_cast<const double*>(base);
  for (std::size_t i = 0; i < blocks; ++i, from += stride_doubles)
    for (std::size_t j = 0; j < block_doubles; ++j) *to++ = from[j];
}
void hand_unpack_doubles(void* base, const void* packed, std::size_t blocks, std::size_t block_doubles,
                         std::ptrdiff_t stride_doubles) {
  double* __restrict to = static_cast<double*>(base);
  const double* __restrict from = static_cast<const double*>(packed);
  for (std::size_t i = 0; i < blocks; ++i, to += stride_doubles)
    for (std::size_t j = 0; j < block_doubles; ++j) to[j] = *from++;
}

void hand_pack_particles(void* packed, const void* base, std::size_t particles) {
  char* __restrict to = static_cast<char*>(packed);
  const Particle* __restrict from = static_cast<const Particle*>(base);
  for (std::size_t i = 0; i < particles; ++i, to += particle_packed_bytes) {
    std::memcpy(to, &from[i].kind, sizeof(int));
    std::memcpy(to + 4, &from[i].mass, sizeof(double));
    std::memcpy(to + 12, from[i].name, 3);
  }
}
void hand_unpack_particles(void* base, const void* packed, std::size_t particles) {
  Particle* __restrict to = static_cast<Particle*>(base);
  const char* __restrict from = static_cast<const char*>(packed);
  for (std::size_t i = 0; i < particles; ++i, from += particle_packed_bytes) {
    std::memcpy(&to[i].kind, from, sizeof(int));
    std::memcpy(&to[i].mass, from + 4, sizeof(double));
    std::memcpy(to[i].name, from + 12, 3);
  }
}

void hand_pack_pieces(void* packed, const void* base, const Piece* pieces, std::size_t count) {
  char* to = static_cast<char*>(packed);
  for (std::size_t i = 0; i < count; to += pieces[i++].bytes)
    std::memcpy(to, static_cast<const char*>(base) + pieces[i].displacement_bytes, pieces[i].bytes);
}
void hand_unpack_pieces(void* base, const void* packed, const Piece* pieces, std::size_t count) {
  const char* from = static_cast<const char*>(packed);
  for (std::size_t i = 0; i < count; from += pieces[i++].bytes)
    std::memcpy(static_cast<char*>(base) + pieces[i].displacement_bytes, from, pieces[i].bytes);
}

void hand_pack_listed_double(void* packed, const void* base, const std::ptrdiff_t* displacements, std::size_t count) {
  double* __restrict to = static_cast<double*>(packed);
  for (std::size_t i = 0; i < count; ++i)
    std::memcpy(to + i, static_cast<const char*>(base) + displacements[i], sizeof(double));
}
void hand_unpack_listed_double(void* base, const void* packed, const std::ptrdiff_t* displacements, std::size_t count) {
  const double* __restrict from = static_cast<const double*>(packed);
  for (std::size_t i = 0; i < count; ++i)
    std::memcpy(static_cast<char*>(base) + displacements[i], from + i, sizeof(double));
}

}  // namespace millrace::kernel::bench
