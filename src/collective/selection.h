// Which algorithm does a call: data that the plan fills in from its table and from settings, equal on all ranks.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "collective/tree.h"

namespace millrace::collective {

enum class Kind : std::uint8_t {
  barrier = 1,
  bcast,
  reduce,
  allreduce,
  gather,
  scatter,
  allgather,
  alltoall,
  neighbor,
  reduce_scatter,
  scan,
  exscan
};
inline constexpr Kind last_kind = Kind::exscan;

// What they do stands in the table of algorithms (algorithms.h).
enum class Algorithm : std::uint8_t {
  alone,        // one rank, or nothing to send
  pair,         // two ranks, buffers that change hands
  cells,        // everybody's cell is read by whoever needs it
  tree,         // cells along a tree
  gathered,     // cells of a few ranks that have gathered those of their neighbours
  mesh,         // everybody looks at the cells of a row and of a column of the ranks (mesh_plan.h)
  chunks,       // from or to the root through a ring of chunks
  slices,       // every rank reduces a part of each chunk
  mail,         // a mailbox for each pair of ranks (mail.h)
  chain,        // every rank reduces its own elements with what the rank before it left
  single_copy,  // out of the root's memory, where that may be read (single_copy.h); else chunks
};

inline constexpr std::uint32_t never = ~std::uint32_t{0};

// Whether `bytes` reach a threshold, which may be `never`.
constexpr bool at_least(std::size_t bytes, std::uint32_t threshold) { return threshold != never && bytes >= threshold; }

inline constexpr std::uint32_t most_inline_bytes = 112;
inline constexpr std::uint32_t least_chain_chunk_bytes = 4096;

// Thresholds. A cell limit is lowered to what the group's cells hold.
struct Selection {
  std::uint32_t inline_bytes = most_inline_bytes;  // messages of up to so many bytes lie in the line of their flag
  std::uint32_t bcast_cells_bytes = 8192;          // messages of up to so many bytes go through cells
  std::uint32_t reduce_cells_bytes = 8192;
  std::uint32_t allreduce_cells_bytes = 8192;
  std::uint32_t reduce_scatter_cells_bytes = 8192;
  std::uint32_t scan_cells_bytes = 8192;       // also of Exscan
  std::uint32_t bcast_chunk_bytes = 32 << 10;  // larger ones are cut into chunks of this size (bcast_chunk_bytes())
  std::uint32_t reduce_chunk_bytes = 32 << 10;
  std::uint32_t allreduce_chunk_bytes = 32 << 10;
  std::uint32_t reduce_scatter_chunk_bytes = 32 << 10;
  std::uint32_t scan_chunk_bytes = 32 << 10;
  std::uint32_t pair_chunk_bytes = 64 << 10;
  std::uint32_t reduce_slices_ranks = 3;          // from so many ranks on, large reductions are shared out among all
  std::uint32_t reduce_slices_crowded_ranks = 5;  // ... where they share cores: then meetings cost most
  // Where ranks have no core each, from so many bytes and ranks on, each reduces into what the one before it left; 0
  // bytes: everywhere.
  std::uint32_t reduce_chain_bytes = 128 << 10;
  std::uint32_t allreduce_chain_bytes = 128 << 10;
  std::uint32_t chain_ranks = 5;
  std::uint32_t chain_chunk_bytes = 64 << 10;  // the most
  // Where so many ranks and more have a core each. Through cells whoever wants the result reads the rows of all, in
  // slices each rank a piece of them; along the chain a rank reads one row, in slices a piece of each, and all at once.
  std::uint32_t roomy_ranks = 4;
  std::uint32_t allreduce_roomy_cells_bytes = 512;
  std::uint32_t allreduce_roomy_rows_bytes = 8192;  // of all ranks
  std::uint32_t reduce_roomy_rows_bytes = 40 << 10;
  std::uint32_t reduce_roomy_chain_bytes = 128 << 10;
  std::uint32_t allreduce_roomy_chain_bytes = 1 << 20;
  // What a core could have copied while a flag went to the next: many chunks take many flags, few leave ranks idle.
  std::uint32_t chain_flag_bytes = 4096;
  // From so many ranks on, cells are read along a tree. Reductions in a tree are not the left fold in rank order.
  std::uint32_t barrier_tree_ranks = 32;
  std::uint32_t bcast_tree_ranks = 32;
  std::uint32_t reduce_tree_ranks = never;
  std::uint32_t allreduce_tree_ranks = never;
  // Where ranks have a core each: among so many of them few bytes are gathered before they are read.
  std::uint32_t reduce_gathered_ranks = 32;
  std::uint32_t scan_gathered_ranks = 32;    // and of Exscan
  std::uint32_t gathered_rows_bytes = 2048;  // of all ranks
  // Among so many of them a mesh does what is up to so many bytes.
  std::uint32_t barrier_mesh_ranks = 32;
  std::uint32_t reduce_mesh_ranks = 32;
  std::uint32_t allreduce_mesh_ranks = 32;
  std::uint32_t alltoall_mesh_ranks = 32;
  std::uint32_t reduce_scatter_mesh_ranks = 32;
  std::uint32_t reduce_mesh_bytes = 1024;
  std::uint32_t allreduce_mesh_bytes = 2048;
  std::uint32_t mesh_row_bytes = 1024;  // of Alltoall and Reduce_scatter: of a rank's blocks for all
  // Where the order makes no difference and each rank has a core.
  std::uint32_t reduce_any_order_tree_ranks = 16;
  // Two ranks share an Allreduce out from so many bytes on if the op is the user's.
  std::uint32_t user_op_slices_bytes = 128 << 10;
  bool pair = true;             // groups of two ranks have algorithms of their own for Barrier and Allreduce
  TreeShape tree, gather_tree;  // from the root; to the root
  // Where ranks may read each other's memory: messages in a row of so many bytes are not copied through shared memory.
  bool single_copy = true;
  std::uint32_t bcast_single_copy_bytes = 64 << 10;
  std::uint32_t bcast_single_copy_ranks = 2;          // in groups of up to so many ranks: all read from one
  std::uint32_t exscan_single_copy_bytes = 64 << 10;  // of two ranks
  bool choose_copies =
      true;  // senders may send through shared memory after all: the root of two, or all (copy_choice.h)
  std::uint32_t exchange_single_copy_bytes = 32 << 10;
  std::uint32_t publish_single_copy_bytes = 64 << 10;
  // The same where ranks share cores: who is read waits for that, and sleeps, while messages in pieces lie there when
  // their sender has gone on.
  std::uint32_t exchange_single_copy_crowded_bytes = 128 << 10;
  std::uint32_t publish_single_copy_crowded_bytes = 8 << 20;
  // In the background and with cores of their own: rows of up to so many bytes are, until it is known what costs least.
  std::uint32_t background_two_copies_bytes = 256 << 10;
  std::uint32_t shared_row_bytes = 64 << 10;  // from here its owner copies too, where it would only wait ...
  bool shared_rows_crowded = false;           // ... and even if ranks share cores
  // Allgather and Alltoall with blocks of so many bytes, in groups of two ranks; of all blocks of a rank of Alltoall, a
  // block of Gather, the blocks of all others of Scatter.
  std::uint32_t block_pair_bytes = 64 << 10;
  std::uint32_t block_pair_free_bytes = 4 << 20;  // where each of the two has a core, and waits
  std::uint32_t block_cells_bytes = 8192;
  // Larger blocks of up to so many bytes of Gather, and of Scatter if those of all others fit a slot, go through slots.
  std::uint32_t block_slot_bytes = 32 << 10;
  std::uint32_t scatter_whole_cells_ranks = 8;  // from so many ranks on, where each has a core: all that a cell holds
};

const Selection& standard_selection();

// A call that an algorithm is looked for.
struct Question {
  std::size_t bytes = 0;
  std::uint32_t ranks = 1;        // of the group
  std::uint32_t cell_bytes = 0;   // what its cells hold
  bool in_order = false;          // the result must be the left fold (the op is not commutative, or not ours)
  bool crowded = false;           // some rank has no core of its own
  std::uint32_t slot_bytes = 0;   // what its slots hold; of Gather and Scatter only
  bool in_background = false;     // ranks go on with it when they are inside MPI, not when they are waited for
  bool any_order = false;         // the result is the same in any order
  std::size_t element_bytes = 1;  // of a reduction
  std::size_t block_bytes = 0;    // of a Reduce_scatter whose blocks are alike
};

// So many ranks in a row have their rows gathered by the first of them: as many as there are then to look at.
constexpr std::uint32_t gathered_width(std::uint32_t ranks) {
  std::uint32_t width = 1;
  while (width * width < ranks) ++width;
  return width;
}

// So many teams do ranks form in a mesh: somewhat more than a team has ranks, for those who reduce read few lines of
// each, and a team's rows take a line each.
constexpr std::uint32_t mesh_teams(std::uint32_t ranks) { return std::min(ranks, gathered_width(2 * ranks)); }

// Of a reduction along a chain. Ranks that share cores do as much as they can each time they get one. With a core each,
// the first chunk passes all ranks before the first result is there, and each chunk takes a flag from rank to rank: of
// n bytes among p ranks the time is least for chunks of sqrt(n * flag / (p - 1)).
constexpr std::uint32_t chain_chunk_bytes(const Selection& selection, const Question& question) {
  const std::uint32_t most = selection.chain_chunk_bytes;
  if (question.crowded || question.ranks < 2) return most;
  std::uint64_t chunk = least_chain_chunk_bytes;
  const std::uint64_t square = question.bytes / (question.ranks - 1) * selection.chain_flag_bytes;
  while (2 * chunk <= most && 4 * chunk * chunk <= square) chunk *= 2;
  return std::min(most, static_cast<std::uint32_t>(chunk));
}

// Of a Bcast. Each chunk takes a flag each way, so of two ranks long messages are worth a later first chunk; with more,
// each a core of its own, the model has them up to 13 % slower so (docs/results/turns.md).
constexpr std::uint32_t bcast_chunk_bytes(const Selection& selection, std::uint32_t ranks, std::size_t bytes) {
  constexpr std::size_t long_from_chunks = 16;
  const std::uint32_t wanted = selection.bcast_chunk_bytes;
  return ranks == 2 && bytes / wanted >= long_from_chunks ? 2 * wanted : wanted;
}

const char* kind_name(Kind kind);

}  // namespace millrace::collective
