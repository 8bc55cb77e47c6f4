// Random derived datatypes from a fixed seed: every combiner that the host has, nested, with negative strides, gaps,
// empty blocks and moved bounds, within a stated size. Each comes with its typemap, written out from the standard's
// definitions (MPI 4.1, 5.1.2 to 5.1.4): the one judge where a host and Millrace differ. And with its text, which
// `millrace explain-type` reads.
#pragma once

#include <mpi.h>

#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

class Random {
 public:
  explicit Random(std::uint64_t seed) : state_(seed * 2654435769u + 88172645463325252u) {}
  std::uint64_t next() {
    state_ ^= state_ << 13;
    state_ ^= state_ >> 7;
    return state_ ^= state_ << 17;
  }
  int between(int low, int high) { return low + static_cast<int>(next() % static_cast<std::uint64_t>(high - low + 1)); }

 private:
  std::uint64_t state_;
};

struct Run {
  MPI_Aint displacement;
  MPI_Aint bytes;
};

struct Made {
  MPI_Datatype type = MPI_DATATYPE_NULL;
  std::vector<Run> typemap;  // in packed order
  std::string text;
  bool owned = true;  // to be freed
};

// What MPI_Type_get_true_extent and MPI_Type_get_extent say, over `count` elements.
struct Span {
  MPI_Aint low;  // first byte, relative to the buffer
  MPI_Aint bytes;
};

inline Span span_of(MPI_Datatype type, int count) {
  MPI_Aint true_lb, true_extent, lb, extent;
  MPI_Type_get_true_extent(type, &true_lb, &true_extent);
  MPI_Type_get_extent(type, &lb, &extent);
  const MPI_Aint last = extent * (count - 1);
  return {true_lb + (last < 0 ? last : 0), true_extent + (last < 0 ? -last : last)};
}

inline int size_of(MPI_Datatype type) {
  int bytes = 0;
  MPI_Type_size(type, &bytes);
  return bytes;
}

inline void bounds_of(MPI_Datatype type, MPI_Aint& lb, MPI_Aint& extent) { MPI_Type_get_extent(type, &lb, &extent); }

// Half of the constructors take large counts.
#ifdef LARGE
using Index = MPI_Count;
using Address = MPI_Count;
#define CONSTRUCTOR(function) function##_c
#else
using Index = int;
using Address = MPI_Aint;
#define CONSTRUCTOR(function) function
#endif

// A predefined type: a value, and the displacement and length of an index behind it.
struct Leaf {
  MPI_Datatype type;
  MPI_Aint bytes, index_at, index_bytes;
  const char* text;
};

// While it lives a host that refuses to make a type says so and nothing worse.
class ErrorsReturned {
 public:
  ErrorsReturned() {
    for (int i = 0; i < 2; ++i) {
      MPI_Comm_get_errhandler(comms_[i], &before_[i]);
      MPI_Comm_set_errhandler(comms_[i], MPI_ERRORS_RETURN);
    }
  }
  ~ErrorsReturned() {
    for (int i = 0; i < 2; ++i) {
      MPI_Comm_set_errhandler(comms_[i], before_[i]);
      MPI_Errhandler_free(&before_[i]);
    }
  }
  ErrorsReturned(const ErrorsReturned&) = delete;
  ErrorsReturned& operator=(const ErrorsReturned&) = delete;

 private:
  const MPI_Comm comms_[2] = {MPI_COMM_WORLD, MPI_COMM_SELF};
  MPI_Errhandler before_[2];
};

// Fortran's kinds from C and, from MPI 4.1 on, pairs made to order: predefined in that they have no contents. A host
// without Fortran has no kinds.
inline std::vector<Leaf> leaves_on_demand() {
  const ErrorsReturned returned;
  std::vector<Leaf> leaves;
  MPI_Datatype type;
  const auto add = [&](int error, int bytes, const char* text) {
    if (error == MPI_SUCCESS && type != MPI_DATATYPE_NULL && size_of(type) == bytes)
      leaves.push_back({type, bytes, 0, 0, text});
  };
  add(MPI_Type_create_f90_real(15, 307, &type), 8, "real8");
  add(MPI_Type_create_f90_complex(6, 37, &type), 8, "complex8");
  add(MPI_Type_create_f90_integer(4, &type), 2, "integer2");
#if MPI_VERSION > 4 || (MPI_VERSION == 4 && MPI_SUBVERSION >= 1)
  if (MPI_Type_get_value_index(MPI_SHORT, MPI_LONG, &type) == MPI_SUCCESS && type != MPI_DATATYPE_NULL)
    leaves.push_back({type, 2, 8, 8, "struct([1, 1], [0, 8], [short, long])"});
#endif
  return leaves;
}

class RandomDatatypes {
 public:
  RandomDatatypes(std::uint64_t seed, MPI_Aint most_bytes) : random(seed), most_bytes_(most_bytes) {
    for (const Leaf& leaf : leaves_on_demand()) leaves_.push_back(leaf);
  }

  // A committed derived type with data; to be freed by the caller.
  Made make(int depth) {
    const ErrorsReturned returned;
    for (;;) {
      Made made = nested(depth);
      if (fits(made.type)) {
        MPI_Type_commit(&made.type);
        return made;
      }
      MPI_Type_free(&made.type);
    }
  }

  long refused = 0;        // constructors that the host knows but did not want
  std::string refused_as;  // the shortest
  Random random;
  bool without_padding = false;  // no long doubles, of whose 16 bytes some hosts carry 10

 private:
  Made predefined() {
    const Leaf* leaf = &leaves_[static_cast<std::size_t>(random.between(0, static_cast<int>(leaves_.size()) - 1))];
    if (leaf->type == MPI_LONG_DOUBLE && without_padding) leaf = &leaves_.front();
    Made made{leaf->type, {{0, leaf->bytes}}, leaf->text, false};
    if (leaf->index_bytes > 0) made.typemap.push_back({leaf->index_at, leaf->index_bytes});
    return made;
  }

  bool fits(MPI_Datatype type) const {
    const int size = size_of(type);
    const Span span = span_of(type, 3);
    return size != MPI_UNDEFINED && size > 0 && size <= most_bytes_ && span.bytes <= 4 * most_bytes_ &&
           span.bytes >= 0 && span.low > -4 * most_bytes_ && span.low < 4 * most_bytes_;
  }

  Made nested(int depth) {
    const Made child = depth == 1 || random.between(0, 2) == 0 ? predefined() : nested(depth - 1);
    Made made;
    while (made.type == MPI_DATATYPE_NULL) {
      made = combine(child, depth);
      if (made.type == MPI_DATATYPE_NULL && (++refused == 1 || made.text.size() < refused_as.size()))
        refused_as = made.text;
    }
    MPI_Aint lb, extent;
    bounds_of(made.type, lb, extent);
    made.text += "@[" + std::to_string(lb) + ", " + std::to_string(extent) + "]";  // hosts round structures differently
    release(child);
    return made;
  }
  static void release(const Made& made) {
    MPI_Datatype type = made.type;
    if (made.owned) MPI_Type_free(&type);
  }

  std::vector<Index> lengths(int count) {
    std::vector<Index> list;
    for (int i = 0; i < count; ++i) list.push_back(random.between(0, 9) == 0 ? 0 : random.between(1, 5));
    return list;
  }
  // Rising, mostly without overlap.
  std::vector<Index> places(const std::vector<Index>& blocks) {
    std::vector<Index> list;
    Index at = random.between(-3, 3);
    for (const Index length : blocks) {
      list.push_back(at);
      at += length + random.between(0, 3);
    }
    if (random.between(0, 3) == 0 && list.size() > 1) std::swap(list.front(), list.back());
    return list;
  }

  Made combine(const Made& child, int depth);
  void make_indexed(int combiner, const Made& child, MPI_Aint extent, int depth, Made& made);
  void make_struct(const Made& child, std::vector<Index> blocks, std::vector<Address> bytes, int depth, Made& made);
  void make_array(bool distributed, const Made& child, MPI_Aint extent, Made& made);

  // `length` elements of the child from `at` bytes on.
  static void append(Made& made, const Made& child, MPI_Aint extent, MPI_Aint at, MPI_Aint length) {
    for (MPI_Aint i = 0; i < length; ++i)
      for (const Run& run : child.typemap) made.typemap.push_back({at + i * extent + run.displacement, run.bytes});
  }

  template <class List>
  static std::string listed(const List& values) {
    std::string text = "[";
    for (const auto& value : values) text += (text.size() > 1 ? ", " : "") + std::to_string(value);
    return text + "]";
  }
  template <class... Numbers>
  static std::string call(const char* name, const Made& child, Numbers... numbers) {
    std::string text = name;
    text += '(';
    ((text += std::to_string(numbers) + ", "), ...);
    return text + child.text + ")";
  }

  MPI_Aint most_bytes_;
  std::vector<Leaf> leaves_{{MPI_DOUBLE, 8, 0, 0, "double"},
                            {MPI_CHAR, 1, 0, 0, "char"},
                            {MPI_SHORT, 2, 0, 0, "short"},
                            {MPI_INT, 4, 0, 0, "int"},
                            {MPI_LONG, 8, 0, 0, "long"},
                            {MPI_FLOAT, 4, 0, 0, "float"},
                            {MPI_DOUBLE_INT, 8, 8, 4, "double_int"},
                            {MPI_SHORT_INT, 2, 4, 4, "short_int"},
                            {MPI_BYTE, 1, 0, 0, "byte"},
                            {MPI_2INT, 4, 4, 4, "2int"},
                            {MPI_LONG_DOUBLE, 16, 0, 0, "long_double"},
                            {MPI_C_DOUBLE_COMPLEX, 16, 0, 0, "c_double_complex"},
                            {MPI_LONG_INT, 8, 8, 4, "long_int"}};
};

inline Made RandomDatatypes::combine(const Made& child, int depth) {
  Made made;
  MPI_Aint lb, extent;
  bounds_of(child.type, lb, extent);
  const int combiner = random.between(0, 13);
  const int count = random.between(1, 7);
  const int block = random.between(1, 5);
  const int stride = (block + random.between(0, 4)) * (random.between(0, 4) == 0 ? -1 : 1);
  const MPI_Aint stride_bytes = stride * extent + (combiner == 2 ? random.between(0, 1) : 0);
  switch (combiner) {
    case 0:
      MPI_Type_contiguous(count, child.type, &made.type);
      made.text = call("contiguous", child, count);
      append(made, child, extent, 0, count);
      return made;
    case 1:
    case 3:
      if (combiner == 1)
        MPI_Type_vector(count, block, stride, child.type, &made.type);
      else
        CONSTRUCTOR(MPI_Type_vector)(count, block, stride, child.type, &made.type);
      made.text = call("vector", child, count, block, stride);
      break;
    case 2:
      CONSTRUCTOR(MPI_Type_create_hvector)(count, block, stride_bytes, child.type, &made.type);
      made.text = call("hvector", child, count, block, stride_bytes);
      break;
    case 4: {
      const MPI_Aint new_lb = lb - random.between(0, 8), new_extent = extent + random.between(0, 40);
      CONSTRUCTOR(MPI_Type_create_resized)(child.type, new_lb, new_extent, &made.type);
      made.text = call("resized", child, new_lb, new_extent);
      made.typemap = child.typemap;
      return made;
    }
    case 5:
      MPI_Type_dup(child.type, &made.type);
      made.text = call("dup", child);
      made.typemap = child.typemap;
      return made;
    case 6:
    case 7: make_array(combiner == 7, child, extent, made); return made;
    default: make_indexed(combiner, child, extent, depth, made); return made;
  }
  for (int i = 0; i < count; ++i) append(made, child, extent, i * stride_bytes, block);
  return made;
}

inline void RandomDatatypes::make_indexed(int combiner, const Made& child, MPI_Aint extent, int depth, Made& made) {
  const int count = random.between(1, 7);
  std::vector<Index> blocks = lengths(count);
  const bool is_block = combiner == 10 || combiner == 11;
  if (is_block) blocks.assign(blocks.size(), random.between(1, 3));
  const std::vector<Index> at = places(blocks);
  std::vector<Address> bytes;
  const bool by_bytes = combiner != 8 && combiner != 10;
  for (const Index place : at) bytes.push_back(place * extent + (by_bytes && random.between(0, 3) == 0 ? 1 : 0));
  if (combiner == 12) return make_struct(child, std::move(blocks), std::move(bytes), depth, made);
  for (std::size_t i = 0; i < blocks.size(); ++i) append(made, child, extent, bytes[i], blocks[i]);
  const std::string lists = (is_block ? std::to_string(blocks[0]) : listed(blocks)) + ", " +
                            (by_bytes ? listed(bytes) : listed(at)) + ", " + child.text + ")";
  switch (combiner) {
    case 8:
      CONSTRUCTOR(MPI_Type_indexed)(count, blocks.data(), at.data(), child.type, &made.type);
      made.text = "indexed(" + lists;
      return;
    case 10:
      CONSTRUCTOR(MPI_Type_create_indexed_block)(count, blocks[0], at.data(), child.type, &made.type);
      made.text = "indexed_block(" + lists;
      return;
    case 11:
      CONSTRUCTOR(MPI_Type_create_hindexed_block)(count, blocks[0], bytes.data(), child.type, &made.type);
      made.text = "hindexed_block(" + lists;
      return;
    case 13:
      CONSTRUCTOR(MPI_Type_create_hindexed)(count, blocks.data(), bytes.data(), child.type, &made.type);
      made.text = "hindexed(" + lists;
      return;
    default: {
      const std::vector<int> small_blocks(blocks.begin(), blocks.end());
      const std::vector<MPI_Aint> addresses(bytes.begin(), bytes.end());
      MPI_Type_create_hindexed(count, small_blocks.data(), addresses.data(), child.type, &made.type);
      made.text = "hindexed(" + lists;
    }
  }
}

// Some blocks of one type, then one of another, which may be derived too.
inline void RandomDatatypes::make_struct(const Made& child, std::vector<Index> blocks, std::vector<Address> bytes,
                                         int depth, Made& made) {
  const Made other = depth > 1 && random.between(0, 1) == 0 ? nested(depth - 1) : predefined();
  MPI_Aint lb, extent, other_extent;
  bounds_of(other.type, lb, other_extent);
  bounds_of(child.type, lb, extent);
  for (std::size_t i = 0; i < blocks.size(); ++i) append(made, child, extent, bytes[i], blocks[i]);
  std::vector<MPI_Datatype> types(blocks.size(), child.type);
  std::string texts;
  for (std::size_t i = 0; i < blocks.size(); ++i) texts += child.text + ", ";
  const Address end = 8 * extent + bytes.back();
  types.push_back(other.type);
  blocks.push_back(2);
  bytes.push_back(end);
  append(made, other, other_extent, end, 2);
  const auto count = static_cast<Index>(blocks.size());
  CONSTRUCTOR(MPI_Type_create_struct)(count, blocks.data(), bytes.data(), types.data(), &made.type);
  made.text = "struct(" + listed(blocks) + ", " + listed(bytes) + ", [" + texts + other.text + "])";
  release(other);
}

// Subarrays and distributed arrays of up to three dimensions: the elements that belong to us, the fastest dimension
// inside.
inline void RandomDatatypes::make_array(bool distributed, const Made& child, MPI_Aint extent, Made& made) {
  const bool fortran = random.between(0, 1) == 1;
  const int order = fortran ? MPI_ORDER_FORTRAN : MPI_ORDER_C;
  const int dimensions = random.between(1, 3);
  std::vector<Index> sizes, starts, subsizes;
  std::vector<int> distributions, arguments, processes;
  std::vector<std::vector<Index>> mine(static_cast<std::size_t>(dimensions));
  std::string names, piece_sizes;
  int rank = 0;
  for (std::vector<Index>& own : mine) {
    const int size = dimensions == 3 ? random.between(2, 5) : random.between(4, 9);
    sizes.push_back(size);
    if (!distributed) {
      starts.push_back(random.between(0, std::min(2, size - 1)));
      subsizes.push_back(random.between(1, size - static_cast<int>(starts.back())));
      for (Index i = 0; i < subsizes.back(); ++i) own.push_back(starts.back() + i);
      continue;
    }
    const int kind = random.between(0, 2);  // none, block, cyclic
    const bool given = random.between(0, 1) == 1;
    const int half = (size + 1) / 2;
    const int k = kind == 2 ? random.between(1, 2) : half + (size > 3 ? random.between(0, 1) : 0);
    const int piece = kind == 0 ? size : given ? k : kind == 2 ? 1 : half;
    const bool with_argument = given && kind != 0;
    const int count = kind == 0 ? 1 : 2, coordinate = random.between(0, count - 1);
    distributions.push_back(kind == 0 ? MPI_DISTRIBUTE_NONE : kind == 1 ? MPI_DISTRIBUTE_BLOCK : MPI_DISTRIBUTE_CYCLIC);
    arguments.push_back(with_argument ? k : MPI_DISTRIBUTE_DFLT_DARG);
    processes.push_back(count);
    rank = rank * count + coordinate;  // the process grid is in C order whatever the array's order
    names += names.empty() ? "" : ", ";
    names += kind == 0 ? "none" : kind == 1 ? "block" : "cyclic";
    piece_sizes += (piece_sizes.empty() ? "" : ", ") + (with_argument ? std::to_string(k) : "default");
    for (int i = 0; i < size; ++i)
      if (i / piece % count == coordinate) own.push_back(i);
  }
  const std::string end = std::string(fortran ? "fortran, " : "c, ") + child.text + ")";
  if (distributed) {
    int all = 1;
    for (const int count : processes) all *= count;
    CONSTRUCTOR(MPI_Type_create_darray)
    (all, rank, dimensions, sizes.data(), distributions.data(), arguments.data(), processes.data(), order, child.type,
     &made.type);
    made.text = "darray(" + std::to_string(all) + ", " + std::to_string(rank) + ", " + listed(sizes) + ", [" + names +
                "], [" + piece_sizes + "], " + listed(processes) + ", " + end;
  } else {
    CONSTRUCTOR(MPI_Type_create_subarray)
    (dimensions, sizes.data(), subsizes.data(), starts.data(), order, child.type, &made.type);
    made.text = "subarray(" + listed(sizes) + ", " + listed(subsizes) + ", " + listed(starts) + ", " + end;
  }
  if (fortran) {  // as a C array, the dimensions from the slowest to the fastest
    std::reverse(mine.begin(), mine.end());
    std::reverse(sizes.begin(), sizes.end());
  }
  std::vector<MPI_Aint> elements{0};
  for (std::size_t d = 0; d < mine.size(); ++d) {
    std::vector<MPI_Aint> deeper;
    for (const MPI_Aint outer : elements)
      for (const Index i : mine[d]) deeper.push_back(outer * sizes[d] + i);
    elements = std::move(deeper);
  }
  for (const MPI_Aint element : elements) append(made, child, extent, element * extent, 1);
}
