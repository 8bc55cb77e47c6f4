#include "tools/bench/turns/types.h"

#include <algorithm>
#include <cstdint>

namespace turns {
namespace {

Type committed(const char* name, MPI_Datatype type) {
  MPI_Type_commit(&type);
  MPI_Aint lower = 0, extent = 0;
  int size = 0;
  MPI_Type_get_true_extent(type, &lower, &extent);
  MPI_Type_size(type, &size);
  return {name, type, static_cast<std::size_t>(size), static_cast<std::size_t>(lower + extent)};
}

Type vector(const char* name, std::size_t bytes, int block, int stride, MPI_Datatype element,
            std::size_t element_bytes) {
  MPI_Datatype type;
  const std::size_t blocks = bytes / (static_cast<std::size_t>(block) * element_bytes);
  MPI_Type_vector(static_cast<int>(blocks), block, stride, element, &type);
  return committed(name, type);
}

// `count` structures one behind the other.
Type structures(const char* name, std::size_t count, int first, MPI_Datatype one, int second, MPI_Datatype other,
                MPI_Aint at, MPI_Aint extent) {
  const int lengths[] = {first, second};
  const MPI_Aint places[] = {0, at};
  const MPI_Datatype types[] = {one, other};
  MPI_Datatype open, whole, type;
  MPI_Type_create_struct(2, lengths, places, types, &open);
  MPI_Type_create_resized(open, 0, extent, &whole);
  MPI_Type_contiguous(static_cast<int>(count), whole, &type);
  MPI_Type_free(&open);
  MPI_Type_free(&whole);
  return committed(name, type);
}

// Blocks of one to five ints with gaps of one to seven, by a fixed rule.
Type irregular(const char* name, std::size_t bytes) {
  std::vector<int> lengths, places;
  std::uint32_t seed = 12345;
  int place = 0;
  for (std::size_t ints = bytes / 4; ints > 0;) {
    seed = seed * 1664525u + 1013904223u;
    const int length = static_cast<int>(std::min<std::size_t>(1 + (seed >> 16) % 5, ints));
    lengths.push_back(length);
    places.push_back(place);
    place += length + 1 + static_cast<int>((seed >> 24) % 7);
    ints -= static_cast<std::size_t>(length);
  }
  MPI_Datatype type;
  MPI_Type_indexed(static_cast<int>(lengths.size()), lengths.data(), places.data(), MPI_INT, &type);
  return committed(name, type);
}

// Two planes of a grid of doubles that is eight deep.
Type face(const char* name, std::size_t bytes) {
  const int rows = static_cast<int>(bytes / (std::size_t{8} * 2 * 4));
  const int sizes[] = {rows, 4, 8}, part[] = {rows, 4, 2}, start[] = {0, 0, 3};
  MPI_Datatype type;
  MPI_Type_create_subarray(3, sizes, part, start, MPI_ORDER_C, MPI_DOUBLE, &type);
  return committed(name, type);
}

}  // namespace

std::vector<Type> types_of(std::size_t bytes) {
  return {vector("every_other_double", bytes, 1, 2, MPI_DOUBLE, 8),
          vector("two_of_three_ints", bytes, 2, 3, MPI_INT, 4),
          vector("four_of_eight_doubles", bytes, 4, 8, MPI_DOUBLE, 8),
          vector("column_of_64", bytes, 1, 64, MPI_DOUBLE, 8),
          structures("double_and_int", bytes / 12, 1, MPI_DOUBLE, 1, MPI_INT, 8, 16),
          structures("255_of_256_bytes", bytes / 255, 254, MPI_BYTE, 1, MPI_BYTE, 254, 256),
          irregular("irregular_ints", bytes),
          face("face", bytes)};
}

}  // namespace turns
