// A datatype as MPI_Type_get_envelope and MPI_Type_get_contents tell it, without handles of any host: a tree whose
// leaves are predefined types. It says how the type was made; layout.h says what that means in memory.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace millrace::layout {

enum class Combiner : std::uint8_t {
  named,  // a predefined type, also one from MPI_Type_create_f90_*, MPI_BYTE, MPI_PACKED
  dup,
  contiguous,
  vector,
  hvector,
  indexed,
  hindexed,
  indexed_block,
  hindexed_block,
  struct_,
  subarray,
  darray,
  resized,
};

// Contiguous bytes of a predefined type. Pair types have several: MPI_DOUBLE_INT is {8 at 0, 4 at 8}, extent 16.
struct Piece {
  std::int64_t displacement_bytes;
  std::int64_t length_bytes;
};

struct Bounds {
  std::int64_t lb_bytes;
  std::int64_t extent_bytes;
};

enum class Order : std::uint8_t { c, fortran };
enum class Distribution : std::uint8_t { none, block, cyclic };
inline constexpr std::int64_t default_distribution_argument = -1;  // MPI_DISTRIBUTE_DFLT_DARG

struct Description;
using DescriptionPtr = std::shared_ptr<const Description>;

// Which fields a combiner uses; the others keep their defaults. "elements" are extents of the child. The order of the
// lists is the order of the packed bytes. One subtree may be shared by many parents.
//
//   named           name, pieces (in the order in which they are packed), extent_bytes, alignment_bytes
//   dup             children[0]
//   contiguous      count, children[0]
//   vector          count, block_length (elements), stride (elements), children[0]
//   hvector         count, block_length (elements), stride (bytes), children[0]
//   indexed         block_lengths[] (elements), displacements[] (elements), children[0]
//   hindexed        block_lengths[] (elements), displacements[] (bytes), children[0]
//   indexed_block   block_length (elements), displacements[] (elements), children[0]
//   hindexed_block  block_length (elements), displacements[] (bytes), children[0]
//   struct_         block_lengths[] (elements of each child), displacements[] (bytes), children[]
//   subarray        sizes[], subsizes[], starts[], order, children[0]
//   darray          processes, rank, sizes[], distributions[], distribution_arguments[], process_sizes[], order,
//                   children[0]
//   resized         lb_bytes, extent_bytes, children[0]
struct Description {
  Combiner combiner = Combiner::named;

  std::string name;  // MPI_DOUBLE: only for texts
  std::vector<Piece> pieces;
  std::int64_t alignment_bytes = 1;

  std::int64_t count = 0;
  std::int64_t block_length = 0;
  std::int64_t stride = 0;
  std::vector<std::int64_t> block_lengths;
  std::vector<std::int64_t> displacements;
  std::vector<DescriptionPtr> children;

  std::vector<std::int64_t> sizes;
  std::vector<std::int64_t> subsizes;
  std::vector<std::int64_t> starts;
  Order order = Order::c;

  std::int64_t processes = 0;
  std::int64_t rank = 0;
  std::vector<Distribution> distributions;
  std::vector<std::int64_t> distribution_arguments;
  std::vector<std::int64_t> process_sizes;

  std::int64_t lb_bytes = 0;
  std::int64_t extent_bytes = 0;

  // What MPI_Type_get_extent of the host says of this node, if it was asked. Overrules the rules of the standard
  // (MPI-5.0, 5.1.7), from which hosts differ in how they round an extent up to the alignment.
  std::optional<Bounds> host_bounds;
};

}  // namespace millrace::layout
