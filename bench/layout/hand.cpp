#include "hand.h"

namespace millrace::bench {

std::size_t hand_side = 0;
const std::size_t* list_displacements = nullptr;
const std::size_t* list_lengths = nullptr;

namespace {

// `count` blocks of B elements at a stride of S.
template <class T, std::size_t B, std::size_t S>
constexpr Hand strided = {[](const char* memory, char* packed, std::size_t count) {
                            const T* from = reinterpret_cast<const T*>(memory);
                            T* to = reinterpret_cast<T*>(packed);
                            for (std::size_t i = 0; i < count; ++i)
                              for (std::size_t k = 0; k < B; ++k) to[i * B + k] = from[i * S + k];
                          },
                          [](char* memory, const char* packed, std::size_t count) {
                            const T* from = reinterpret_cast<const T*>(packed);
                            T* to = reinterpret_cast<T*>(memory);
                            for (std::size_t i = 0; i < count; ++i)
                              for (std::size_t k = 0; k < B; ++k) to[i * S + k] = from[i * B + k];
                          }};

struct Particle {
  int id;
  double x;
  char kind[3];
};
#pragma pack(push, 1)
struct Packed {
  int id;
  double x;
  char kind[3];
};
#pragma pack(pop)

// Elements are 8 x 16 blocks of 2 floats, in rows of 64 floats.
constexpr std::size_t tile_rows = 8, tile_blocks = 16, tile_row_floats = 64;

}  // namespace

const Hand hand_vector_2_3_int = strided<int, 2, 3>, hand_vector_1_2_int = strided<int, 1, 2>,
           hand_vector_4_8_double = strided<double, 4, 8>, hand_column = strided<double, 1, 1000>;

const Hand hand_struct = {[](const char* memory, char* packed, std::size_t count) {
                            const auto* from = reinterpret_cast<const Particle*>(memory);
                            auto* to = reinterpret_cast<Packed*>(packed);
                            for (std::size_t i = 0; i < count; ++i)
                              to[i] = {from[i].id, from[i].x, {from[i].kind[0], from[i].kind[1], from[i].kind[2]}};
                          },
                          [](char* memory, const char* packed, std::size_t count) {
                            const auto* from = reinterpret_cast<const Packed*>(packed);
                            auto* to = reinterpret_cast<Particle*>(memory);
                            for (std::size_t i = 0; i < count; ++i) {
                              to[i].id = from[i].id;
                              to[i].x = from[i].x;
                              for (int k = 0; k < 3; ++k) to[i].kind[k] = from[i].kind[k];
                            }
                          }};

const Hand hand_tile = {[](const char* memory, char* packed, std::size_t count) {
                          const auto* from = reinterpret_cast<const float*>(memory);
                          auto* to = reinterpret_cast<float*>(packed);
                          for (std::size_t i = 0; i < count; ++i, from += tile_rows * tile_row_floats)
                            for (std::size_t r = 0; r < tile_rows; ++r)
                              for (std::size_t b = 0; b < tile_blocks; ++b, to += 2) {
                                to[0] = from[r * tile_row_floats + 4 * b];
                                to[1] = from[r * tile_row_floats + 4 * b + 1];
                              }
                        },
                        [](char* memory, const char* packed, std::size_t count) {
                          const auto* from = reinterpret_cast<const float*>(packed);
                          auto* to = reinterpret_cast<float*>(memory);
                          for (std::size_t i = 0; i < count; ++i, to += tile_rows * tile_row_floats)
                            for (std::size_t r = 0; r < tile_rows; ++r)
                              for (std::size_t b = 0; b < tile_blocks; ++b, from += 2) {
                                to[r * tile_row_floats + 4 * b] = from[0];
                                to[r * tile_row_floats + 4 * b + 1] = from[1];
                              }
                        }};

const Hand hand_transposed = {[](const char* memory, char* packed, std::size_t count) {
                                const auto* from = reinterpret_cast<const double*>(memory);
                                auto* to = reinterpret_cast<double*>(packed);
                                for (std::size_t c = 0; c < count; ++c)
                                  for (std::size_t r = 0; r < hand_side; ++r) *to++ = from[r * hand_side + c];
                              },
                              [](char* memory, const char* packed, std::size_t count) {
                                const auto* from = reinterpret_cast<const double*>(packed);
                                auto* to = reinterpret_cast<double*>(memory);
                                for (std::size_t c = 0; c < count; ++c)
                                  for (std::size_t r = 0; r < hand_side; ++r) to[r * hand_side + c] = *from++;
                              }};

const Hand hand_indexed = {[](const char* memory, char* packed, std::size_t count) {
                             const auto* from = reinterpret_cast<const double*>(memory);
                             auto* to = reinterpret_cast<double*>(packed);
                             for (std::size_t i = 0; i < count; ++i)
                               for (std::size_t k = 0; k < list_lengths[i]; ++k)
                                 *to++ = from[list_displacements[i] + k];
                           },
                           [](char* memory, const char* packed, std::size_t count) {
                             const auto* from = reinterpret_cast<const double*>(packed);
                             auto* to = reinterpret_cast<double*>(memory);
                             for (std::size_t i = 0; i < count; ++i)
                               for (std::size_t k = 0; k < list_lengths[i]; ++k)
                                 to[list_displacements[i] + k] = *from++;
                           }};

const Hand hand_random = {[](const char* memory, char* packed, std::size_t count) {
                            const auto* from = reinterpret_cast<const double*>(memory);
                            auto* to = reinterpret_cast<double*>(packed);
                            for (std::size_t i = 0; i < count; ++i) to[i] = from[list_displacements[i]];
                          },
                          [](char* memory, const char* packed, std::size_t count) {
                            const auto* from = reinterpret_cast<const double*>(packed);
                            auto* to = reinterpret_cast<double*>(memory);
                            for (std::size_t i = 0; i < count; ++i) to[list_displacements[i]] = from[i];
                          }};

}  // namespace millrace::bench
