// The table of algorithms, and one function for each, as collective.h says of each collective; the file of the same
// name explains it. `bytes` and `elements` are > 0, the group has at least two ranks, and the size fits the algorithm
// (see its comment): all but those that do what needs no other rank.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "collective/blocking.h"
#include "collective/group.h"
#include "collective/reducer.h"
#include "collective/selection.h"

namespace millrace::collective {

struct Blocks;

// What runs a call; one of them is set, or none where exchange.h does it.
struct Run {
  Result (*barrier)(Group& group, const Call& call) = nullptr;
  Result (*bcast)(Group& group, const Call& call, void* buffer, std::size_t& bytes, std::uint32_t root) = nullptr;
  Result (*reduce)(Group& group, const Call& call, const void* in, void* out, std::size_t elements,
                   const Reducer& reducer, std::uint32_t root) = nullptr;
  Result (*allreduce)(Group& group, const Call& call, const void* in, void* out, std::size_t elements,
                      const Reducer& reducer) = nullptr;
  Result (*blocks)(Group& group, const Call& call, const Blocks& blocks) = nullptr;
  Result (*reduce_scatter)(Group& group, const Call& call, const void* in, void* out, const Blocking& blocks,
                           const Reducer& reducer) = nullptr;
  Result (*scan)(Group& group, const Call& call, const void* in, void* out, std::size_t elements,
                 const Reducer& reducer, bool inclusive) = nullptr;  // inclusive: Scan, else Exscan
};

// One algorithm of one collective: all that choosing, running, forcing, explaining and the tests know of it.
struct AlgorithmEntry {
  Kind kind;
  Algorithm algorithm;
  const char* name;  // as in MILLRACE_ALGORITHM
  const char* why;
  // Whether it does such a call; of a kind's entries the first that does is taken. The same on all ranks.
  bool (*takes)(const Selection& selection, const Question& question);
  Run run;
  // Thresholds such that it does every size that it can do; the others of its kind do the rest, for cells hold only so
  // much. Null: it cannot be asked for.
  void (*force)(Selection& selection) = nullptr;
  std::uint32_t Selection::*chunk_bytes = nullptr;  // of those that cut what is longer
};

std::span<const AlgorithmEntry> algorithms();
// What does a call of this kind. A few nanoseconds.
const AlgorithmEntry& choose(const Selection& selection, Kind kind, const Question& question);
// Null if there is none.
const AlgorithmEntry* find_algorithm(Kind kind, Algorithm algorithm);

// What needs no other rank.
Result barrier_alone(Group& group, const Call& call);
Result bcast_alone(Group& group, const Call& call, void* buffer, std::size_t& bytes, std::uint32_t root);
Result reduce_alone(Group& group, const Call& call, const void* in, void* out, std::size_t elements,
                    const Reducer& reducer, std::uint32_t root);
Result allreduce_alone(Group& group, const Call& call, const void* in, void* out, std::size_t elements,
                       const Reducer& reducer);
Result reduce_scatter_alone(Group& group, const Call& call, const void* in, void* out, const Blocking& blocks,
                            const Reducer& reducer);
Result scan_alone(Group& group, const Call& call, const void* in, void* out, std::size_t elements,
                  const Reducer& reducer, bool inclusive);

Result barrier_pair(Group& group, const Call& call);
Result barrier_cells(Group& group, const Call& call);
Result bcast_cells(Group& group, const Call& call, void* buffer, std::size_t& bytes, std::uint32_t root);
Result bcast_chunks(Group& group, const Call& call, void* buffer, std::size_t& bytes, std::uint32_t root);
Result bcast_single_copy(Group& group, const Call& call, void* buffer, std::size_t& bytes, std::uint32_t root);
Result reduce_cells(Group& group, const Call& call, const void* in, void* out, std::size_t elements,
                    const Reducer& reducer, std::uint32_t root);
Result reduce_gathered(Group& group, const Call& call, const void* in, void* out, std::size_t elements,
                       const Reducer& reducer, std::uint32_t root);
Result barrier_mesh(Group& group, const Call& call);
Result reduce_mesh(Group& group, const Call& call, const void* in, void* out, std::size_t elements,
                   const Reducer& reducer, std::uint32_t root);
Result allreduce_mesh(Group& group, const Call& call, const void* in, void* out, std::size_t elements,
                      const Reducer& reducer);
Result reduce_chunks(Group& group, const Call& call, const void* in, void* out, std::size_t elements,
                     const Reducer& reducer, std::uint32_t root);
Result reduce_slices(Group& group, const Call& call, const void* in, void* out, std::size_t elements,
                     const Reducer& reducer, std::uint32_t root);
Result reduce_chain(Group& group, const Call& call, const void* in, void* out, std::size_t elements,
                    const Reducer& reducer, std::uint32_t root);
Result allreduce_pair(Group& group, const Call& call, const void* in, void* out, std::size_t elements,
                      const Reducer& reducer);
Result allreduce_cells(Group& group, const Call& call, const void* in, void* out, std::size_t elements,
                       const Reducer& reducer);
Result allreduce_slices(Group& group, const Call& call, const void* in, void* out, std::size_t elements,
                        const Reducer& reducer);
Result allreduce_chain(Group& group, const Call& call, const void* in, void* out, std::size_t elements,
                       const Reducer& reducer);
Result reduce_scatter_cells(Group& group, const Call& call, const void* in, void* out, const Blocking& blocks,
                            const Reducer& reducer);
Result reduce_scatter_slices(Group& group, const Call& call, const void* in, void* out, const Blocking& blocks,
                             const Reducer& reducer);
Result reduce_scatter_mesh(Group& group, const Call& call, const void* in, void* out, const Blocking& blocks,
                           const Reducer& reducer);
Result scan_gathered(Group& group, const Call& call, const void* in, void* out, std::size_t elements,
                     const Reducer& reducer, bool inclusive);
Result scan_cells(Group& group, const Call& call, const void* in, void* out, std::size_t elements,
                  const Reducer& reducer, bool inclusive);
Result scan_chain(Group& group, const Call& call, const void* in, void* out, std::size_t elements,
                  const Reducer& reducer, bool inclusive);
Result exscan_single_copy(Group& group, const Call& call, const void* in, void* out, std::size_t elements,
                          const Reducer& reducer, bool inclusive);

// Blocks of equal bytes to everybody (blocks.h). Up to block_line_bytes of a pair's go in one line.
inline constexpr std::size_t block_line_bytes = 8;
Result blocks_pair(Group& group, const Call& call, const Blocks& blocks);
Result gather_cells(Group& group, const Call& call, const Blocks& blocks);
Result scatter_cells(Group& group, const Call& call, const Blocks& blocks);
Result gather_chunks(Group& group, const Call& call, const Blocks& blocks);  // a slot has the block, or all blocks
Result scatter_chunks(Group& group, const Call& call, const Blocks& blocks);
Result blocks_cells(Group& group, const Call& call, const Blocks& blocks);  // a cell has a block for each rank
Result blocks_mesh(Group& group, const Call& call, const Blocks& blocks);   // the same, or those that a rank gathers

// Up to a cell; reductions by kernels of commutative ops only, in the order of the tree.
Result barrier_tree(Group& group, const Call& call);
Result bcast_tree(Group& group, const Call& call, void* buffer, std::size_t& bytes, std::uint32_t root);
Result reduce_tree(Group& group, const Call& call, const void* in, void* out, std::size_t elements,
                   const Reducer& reducer, std::uint32_t root);
Result allreduce_tree(Group& group, const Call& call, const void* in, void* out, std::size_t elements,
                      const Reducer& reducer);

}  // namespace millrace::collective
