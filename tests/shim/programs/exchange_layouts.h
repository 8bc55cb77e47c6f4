// Blocks of collectives with layouts drawn at random from a seed that every rank knows: for exchange_case.h.
#pragma once

#include <mpi.h>

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <vector>

inline std::uint64_t mix(std::uint64_t x) {
  x ^= x >> 33, x *= 0xff51afd7ed558ccdu, x ^= x >> 33, x *= 0xc4ceb9fe1a85ec53u;
  return x ^ x >> 33;
}

class Random {
 public:
  explicit Random(std::uint64_t seed) : state_(mix(seed + 1)) {}
  std::uint64_t next() { return mix(state_ += 0x9e3779b97f4a7c15u); }
  int below(int limit) { return static_cast<int>(next() % static_cast<std::uint64_t>(limit)); }
  bool one_in(int chances) { return below(chances) == 0; }

 private:
  std::uint64_t state_;
};

// ---- layouts of a given number of ints, each of which does not overlap the next ----

struct Type {
  MPI_Datatype handle = MPI_INT;
  int units = 1;  // ints of data in an element
  bool owned = false;
  MPI_Aint low = 0, high = 4, extent = 4;  // true bounds
};

inline MPI_Datatype scattered(Random& random, int units) {
  MPI_Datatype type;
  switch (random.below(7)) {
    case 0: MPI_Type_contiguous(units, MPI_INT, &type); return type;
    case 1: MPI_Type_vector(units, 1, 2 + random.below(3), MPI_INT, &type); return type;
    case 2: MPI_Type_create_hvector(units, 1, -8 - 4 * random.below(3), MPI_INT, &type); return type;
    case 3: {  // in an order that is not that of memory
      std::vector<int> displacements(static_cast<std::size_t>(units));
      for (int i = 0; i < units; ++i) displacements[static_cast<std::size_t>(i)] = 2 * (units - i) + random.below(2);
      MPI_Type_create_indexed_block(units, 1, displacements.data(), MPI_INT, &type);
      return type;
    }
    case 4: {  // one and the rest, at a distance
      const int lengths[2] = {1, units - 1};
      const MPI_Aint places[2] = {4 + 4 * random.below(4), 64};
      const MPI_Datatype types[2] = {MPI_INT, MPI_INT};
      MPI_Type_create_struct(2, lengths, places, types, &type);
      return type;
    }
    case 5: {
      const int sizes[2] = {units, 3}, part[2] = {units, 1}, start[2] = {0, random.below(3)};
      MPI_Type_create_subarray(2, sizes, part, start, MPI_ORDER_C, MPI_INT, &type);
      return type;
    }
    default: {
      MPI_Datatype inner;
      MPI_Type_vector(units, 1, 1, MPI_INT, &inner);
      MPI_Type_dup(inner, &type);
      MPI_Type_free(&inner);
      return type;
    }
  }
}

inline Type make_type(Random& random, int units) {
  Type made;
  made.units = units;
  if (units == 1 && random.one_in(2)) return made;
  const MPI_Datatype inner = scattered(random, units);
  MPI_Aint extent;
  MPI_Type_get_true_extent(inner, &made.low, &extent);
  made.high = made.low + extent;
  MPI_Aint lb;
  MPI_Type_get_extent(inner, &lb, &made.extent);
  made.owned = true;
  made.handle = inner;
  // Bounds that say nothing about where the data are, but keep elements apart.
  if (made.extent < extent || random.one_in(2)) {
    made.extent = extent + 4 * random.below(4);
    MPI_Datatype moved = inner;
    MPI_Type_create_resized(moved, 4 * random.below(9) - 16, made.extent, &made.handle);
    MPI_Type_free(&moved);
  }
  MPI_Type_commit(&made.handle);
  return made;
}

// ---- one side of a call: its buffers and arguments ----

struct Side {
  std::vector<Type> types;  // one, or one a block
  std::vector<int> counts;
  std::vector<int> displacements;  // in extents, or in bytes
  std::vector<MPI_Aint> wide;      // in bytes
  std::vector<MPI_Datatype> handles;
  std::vector<char> memory, again;  // for MPI_ and for PMPI_
  MPI_Aint origin = 0;

  char* ours() { return memory.data() + origin; }
  char* hosts() { return again.data() + origin; }
};

enum class Blocks { one, each, array, own_types };

// `ints[i]`: of block i, a multiple of `unit`. `whole`: elements are of that many.
inline Side make_side(Random& random, Blocks blocks, const std::vector<int>& ints, int unit, bool whole,
                      std::uint64_t content) {
  Side side;
  const std::size_t size = ints.size();
  const auto divisor = [&] {
    for (;;) {
      if (whole) return unit;
      const int tried = 1 + random.below(unit);
      if (unit % tried == 0) return tried;
    }
  };
  for (std::size_t i = 0; i < (blocks == Blocks::own_types ? size : 1); ++i)
    side.types.push_back(make_type(random, divisor()));
  std::vector<std::size_t> order(size);
  std::iota(order.begin(), order.end(), 0u);
  if (blocks == Blocks::array || blocks == Blocks::own_types)
    for (std::size_t i = size; i > 1; --i)
      std::swap(order[i - 1], order[static_cast<std::size_t>(random.below(static_cast<int>(i)))]);
  side.counts.resize(size + 1), side.displacements.resize(size + 1), side.wide.resize(size + 1);
  side.handles.resize(size + 1, MPI_INT);
  // Blocks behind one another, in some order, with room between; all that is touched lies in [least, most).
  MPI_Aint least = 0, most = 0, next = 0;
  for (const std::size_t i : order) {
    const Type& type = side.types[blocks == Blocks::own_types ? i : 0];
    const int count = ints[i] / type.units;
    side.counts[i] = count;
    side.handles[i] = type.handle;
    MPI_Aint at = 0;
    if (blocks == Blocks::each || blocks == Blocks::one) {
      at = static_cast<MPI_Aint>(i) * count * type.extent;
    } else if (blocks == Blocks::array) {
      next += random.below(3);
      side.displacements[i] = static_cast<int>(next);
      at = next * type.extent;
      next += count;
    } else {
      next += 4 * random.below(3) - type.low;
      at = next;
      side.displacements[i] = static_cast<int>(at);
      side.wide[i] = at;
      next += count * type.extent + type.high;
    }
    if (count == 0) continue;
    least = std::min(least, at + type.low);
    most = std::max(most, at + (count - 1) * type.extent + type.high);
  }
  side.origin = (-least + 63) / 64 * 64 + 64;
  side.memory.resize(static_cast<std::size_t>(side.origin + most + 64));
  for (std::size_t i = 0; i < side.memory.size(); ++i)
    side.memory[i] = static_cast<char>(mix(content + i / 8) >> i % 8 * 8);
  side.again = side.memory;
  return side;
}

inline void free_types(Side& side) {
  for (Type& type : side.types)
    if (type.owned) MPI_Type_free(&type.handle);
}
