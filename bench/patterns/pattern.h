// One access pattern of an application: its datatype, and the loop that its authors would write instead.
#pragma once

#include <mpi.h>

#include <cstddef>
#include <functional>
#include <initializer_list>
#include <string>
#include <vector>

namespace patterns {

enum class Way : bool { pack, unpack };

struct Pattern {
  std::string name;
  MPI_Datatype type;         // one element of it is the whole message
  std::size_t spread_bytes;  // of the memory it lies in
  // Copies between that memory and packed bytes, in the order of the type; returns the end of what was packed.
  std::function<char*(char* spread, char* packed, Way way)> by_hand;
};

template <class T>
inline void copy(T& spread, T& packed, Way way) {
  if (way == Way::pack)
    packed = spread;
  else
    spread = packed;
}

// Three nested loops around blocks of `block` elements; a stride counts elements.
struct Loops {
  long counts[3], strides[3], block;
};

template <class T>
char* copy_loops(T* spread, char* packed, const Loops& loops, Way way) {
  T* next = reinterpret_cast<T*>(packed);
  for (long i = 0; i < loops.counts[0]; ++i)
    for (long j = 0; j < loops.counts[1]; ++j)
      for (long k = 0; k < loops.counts[2]; ++k) {
        T* const from = spread + i * loops.strides[0] + j * loops.strides[1] + k * loops.strides[2];
        if (way == Way::pack)
          for (long element = 0; element < loops.block; ++element) next[element] = from[element];
        else
          for (long element = 0; element < loops.block; ++element) from[element] = next[element];
        next += loops.block;
      }
  return reinterpret_cast<char*>(next);
}

// For each index of a list, `block` elements of an array.
template <int block, class T>
char* copy_list(T* spread, char* packed, const std::vector<int>& list, Way way) {
  T* next = reinterpret_cast<T*>(packed);
  for (const int index : list)
    for (int element = 0; element < block; ++element) copy(spread[index * block + element], *next++, way);
  return reinterpret_cast<char*>(next);
}

// Parts of one message at places in bytes; frees the parts.
inline MPI_Datatype together(const std::vector<MPI_Aint>& places_bytes, std::vector<MPI_Datatype> parts) {
  const std::vector<int> once(parts.size(), 1);
  MPI_Datatype type;
  MPI_Type_create_struct(static_cast<int>(parts.size()), once.data(), places_bytes.data(), parts.data(), &type);
  for (MPI_Datatype& part : parts) MPI_Type_free(&part);
  return type;
}

// The same nested vectors as a datatype: MPI_Type_vector inside MPI_Type_create_hvector.
inline MPI_Datatype nested_vectors(const Loops& loops, MPI_Datatype element, long element_bytes) {
  MPI_Datatype inner, middle, outer;
  MPI_Type_vector(static_cast<int>(loops.counts[2]), static_cast<int>(loops.block), static_cast<int>(loops.strides[2]),
                  element, &inner);
  MPI_Type_create_hvector(static_cast<int>(loops.counts[1]), 1, loops.strides[1] * element_bytes, inner, &middle);
  MPI_Type_create_hvector(static_cast<int>(loops.counts[0]), 1, loops.strides[0] * element_bytes, middle, &outer);
  MPI_Type_free(&inner);
  MPI_Type_free(&middle);
  return outer;
}

std::vector<Pattern> grid_patterns(long scale);
std::vector<Pattern> list_patterns(long scale);

}  // namespace patterns
