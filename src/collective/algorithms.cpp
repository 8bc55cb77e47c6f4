#include "collective/algorithms.h"

#include <algorithm>
#include <array>
#include <utility>

#include "collective/mesh_plan.h"
#include "collective/transposed.h"

namespace millrace::collective {
namespace {

using S = Selection;
using Q = Question;

constexpr const char* why_alone = "nothing needs another rank";
constexpr const char* why_pair = "two ranks: both send all and reduce all, in buffers that change hands";
constexpr const char* why_cells = "fits a cell: whoever needs it reads it from where its owner put it";
constexpr const char* why_tree = "fits a cell, and so many ranks that a tree has fewer steps";
constexpr const char* why_gathered =
    "few bytes among many ranks: some gather those of their neighbours, and the root reads theirs";
constexpr const char* why_mesh =
    "small, among many ranks: each reads the cells of a row and of a column of the ranks, not those of all";
constexpr const char* why_chunks = "larger than a cell: a ring of chunks, filled and emptied at the same time";
constexpr const char* why_slices =
    "larger than a cell, or too much for one rank to read of all: every rank reduces its slice of each chunk";
constexpr const char* why_chain =
    "large, or ranks share cores: each in turn reduces into what the one before it left, and copies nothing in";
constexpr const char* why_pieces = "larger than a cell: every rank reduces its block, piece by piece";
constexpr const char* why_scan_chain =
    "larger than a cell: chunk by chunk each rank reduces with what the one before it left";
constexpr const char* why_single_copy =
    "large: copied once, out of the root's memory; by chunks as for more ranks where that may not be read or takes "
    "longer";
constexpr const char* why_exscan_copy =
    "two ranks, large: what the first contributes goes to the second, as in a Bcast: copied once where that is faster";
constexpr const char* why_swap = "two ranks: each sends the other its block, in buffers that change hands";
constexpr const char* why_block_cells = "blocks for all fit a cell: everybody takes its own out of the others' cells";
constexpr const char* why_transposed =
    "few bytes among many ranks: some gather what their neighbours have for some, who read theirs";
constexpr const char* why_scan_gathered =
    "few bytes among many ranks: some gather those of their neighbours, and whoever comes after them reads theirs";
constexpr const char* why_gather_cells = "blocks fit cells: each rank leaves its own in its cell for the root";
constexpr const char* why_scatter_cells = "blocks of all others fit a cell: the root leaves them there";
constexpr const char* why_gather_chunks = "blocks fit slots: each rank leaves its own in its slot for the root";
constexpr const char* why_scatter_chunks = "blocks of all others fit a slot: the root leaves them there";
constexpr const char* why_mail = "every two ranks have a mailbox for each direction; all messages advance together";

constexpr std::uint32_t tree_from_ranks = 3;  // where it was asked for

constexpr bool always(const S&, const Q&) { return true; }
constexpr bool is_alone(const S&, const Q& q) { return q.ranks == 1 || q.bytes == 0; }
constexpr bool fits(const Q& q, std::uint32_t limit_bytes) { return q.bytes <= std::min(limit_bytes, q.cell_bytes); }
// A reduction along a tree is not the left fold.
constexpr bool climbs(const S& s, const Q& q, std::uint32_t any_ranks, std::uint32_t any_order_ranks) {
  if (q.in_order) return false;
  const bool is_free = q.any_order && !q.crowded && !q.in_background && q.ranks >= s.roomy_ranks;
  return q.ranks >= any_ranks || (is_free && q.ranks >= any_order_ranks);
}
// What is for many ranks with a core each. Asked for, it is taken from fewer ranks on, whatever else. First of all
// whether there are so many, for most calls are of few.
constexpr bool are_many(const Q& q, std::uint32_t from_ranks, std::size_t bytes, std::uint32_t most_bytes) {
  if (q.ranks < from_ranks) return false;
  return from_ranks == tree_from_ranks || (!q.crowded && !q.in_background && bytes <= most_bytes);
}
[[gnu::noinline]] bool gathers(const S& s, const Q& q, std::uint32_t from_ranks) {
  return are_many(q, from_ranks, q.bytes, s.gathered_rows_bytes / q.ranks) &&
         q.bytes <= q.cell_bytes / gathered_width(q.ranks);
}
// Whether cells hold what a member of a team gathers of rows of such elements.
[[gnu::noinline]] bool fits_mesh(const Q& q, std::size_t element_bytes) {
  if (q.bytes > q.cell_bytes) return false;
  return q.bytes == 0 ||
         MeshPlan(q.ranks, q.bytes / element_bytes, element_bytes).most_gathered_bytes() <= q.cell_bytes;
}
constexpr bool meshes(const Q& q, std::uint32_t from_ranks, std::uint32_t most_bytes) {
  return are_many(q, from_ranks, q.bytes, most_bytes) && fits_mesh(q, q.element_bytes);
}
constexpr bool is_pair(const S& s, const Q& q) { return q.ranks == 2 && s.pair; }
// Functions of the user reduce elements one by one: from some bytes on that costs more than to meet twice as often.
constexpr bool pair_reduces(const S& s, const Q& q) {
  return is_pair(s, q) && !(q.in_order && !q.crowded && q.bytes >= s.user_op_slices_bytes);
}
// Many ranks, each with a core of its own.
constexpr bool is_roomy(const S& s, const Q& q) { return !q.crowded && q.ranks >= s.roomy_ranks; }
// Whether not too much is read by who wants the result.
constexpr bool rows_fit(const S& s, const Q& q, std::uint32_t row_bytes, std::uint32_t rows_bytes) {
  return !is_roomy(s, q) || q.bytes <= std::min(row_bytes, rows_bytes / q.ranks);
}
// A limit of 0 bytes forces it.
constexpr bool chains(const S& s, const Q& q, std::uint32_t from_bytes, std::uint32_t roomy_from_bytes) {
  if (from_bytes == 0) return true;
  if (q.crowded) return q.ranks >= s.chain_ranks && at_least(q.bytes, from_bytes);
  return !q.in_background && is_roomy(s, q) && at_least(q.bytes, roomy_from_bytes);
}

constexpr void force_barrier(S& s, std::uint32_t tree_ranks, std::uint32_t mesh_ranks) {
  s.barrier_tree_ranks = tree_ranks;
  s.barrier_mesh_ranks = mesh_ranks;
  s.pair = false;
}

constexpr void force_bcast(S& s, std::uint32_t tree_ranks, std::uint32_t cells_bytes, bool single_copy) {
  s.bcast_tree_ranks = tree_ranks;
  s.bcast_cells_bytes = cells_bytes;
  s.bcast_single_copy_bytes = single_copy ? 0 : never;
  s.choose_copies = false;
  if (single_copy) s.bcast_single_copy_ranks = never;
}

constexpr void force_small_reduce(S& s, std::uint32_t tree_ranks) {
  s.reduce_tree_ranks = tree_ranks;
  s.reduce_any_order_tree_ranks = s.reduce_gathered_ranks = s.reduce_mesh_ranks = never;
  s.reduce_cells_bytes = s.reduce_roomy_rows_bytes = never;
  s.reduce_chain_bytes = s.reduce_roomy_chain_bytes = never;
}

constexpr void force_large_reduce(S& s, std::uint32_t slices_ranks, std::uint32_t chain_bytes) {
  s.reduce_tree_ranks = s.reduce_any_order_tree_ranks = never;
  s.reduce_gathered_ranks = s.reduce_mesh_ranks = never;
  s.reduce_cells_bytes = 0;
  s.reduce_slices_ranks = s.reduce_slices_crowded_ranks = slices_ranks;
  s.reduce_chain_bytes = s.reduce_roomy_chain_bytes = chain_bytes;
}

constexpr void force_allreduce(S& s, std::uint32_t tree_ranks, std::uint32_t cells_bytes, std::uint32_t chain_bytes) {
  s.allreduce_tree_ranks = tree_ranks;
  s.allreduce_mesh_ranks = never;
  s.allreduce_cells_bytes = cells_bytes;
  s.allreduce_roomy_cells_bytes = s.allreduce_roomy_rows_bytes = never;
  s.allreduce_chain_bytes = s.allreduce_roomy_chain_bytes = chain_bytes;
  s.pair = false;
}

constexpr bool swaps(const S& s, const Q& q) {
  const bool is_free = !q.crowded && !q.in_background && s.block_pair_bytes != 0 && s.block_pair_bytes != never;
  return is_pair(s, q) && q.bytes != 0 &&
         q.bytes <= (is_free ? std::max(s.block_pair_bytes, s.block_pair_free_bytes) : s.block_pair_bytes);
}
constexpr bool blocks_fit(const S& s, const Q& q) {
  return q.ranks != 1 && q.bytes != 0 && q.bytes <= std::min(s.block_cells_bytes, q.cell_bytes) / q.ranks;
}

[[gnu::noinline]] bool transposes(const S& s, const Q& q, std::size_t block_bytes, std::uint32_t from_ranks) {
  return are_many(q, from_ranks, block_bytes, s.mesh_row_bytes / q.ranks) && block_bytes != 0 &&
         block_bytes <= q.cell_bytes / q.ranks && Transposed::most_bytes(q.ranks, block_bytes) <= q.cell_bytes;
}
[[gnu::noinline]] bool scan_gathers(const S& s, const Q& q) {
  return are_many(q, s.scan_gathered_ranks, q.bytes, s.gathered_rows_bytes / q.ranks) && fits_mesh(q, q.bytes);
}

// A mailbox for each of many takes a root longer than one cell for all of them.
constexpr std::uint32_t scatter_cell_bytes(const S& s, const Q& q) {
  return q.crowded || q.ranks < s.scatter_whole_cells_ranks ? std::min(s.block_cells_bytes, q.cell_bytes)
                                                            : q.cell_bytes;
}

constexpr void force_block_slots(S& s) {
  s.block_cells_bytes = 0;
  s.scatter_whole_cells_ranks = s.block_slot_bytes = never;
}

constexpr void force_reduce_scatter(S& s, std::uint32_t cells_bytes) {
  s.reduce_scatter_cells_bytes = cells_bytes;
  s.reduce_scatter_mesh_ranks = never;
}

constexpr bool scan_fits(const S& s, const Q& q) { return fits(q, s.scan_cells_bytes); }
constexpr void force_scan(S& s, std::uint32_t cells_bytes) {
  s.scan_cells_bytes = cells_bytes;
  s.scan_gathered_ranks = never;
  s.exscan_single_copy_bytes = never;
}
constexpr void force_scan_gathered(S& s) { s.scan_gathered_ranks = tree_from_ranks; }
constexpr void force_exscan_copy(S& s) {
  s.scan_gathered_ranks = never;
  s.scan_cells_bytes = s.exscan_single_copy_bytes = 0;
  s.choose_copies = false;
}

constexpr AlgorithmEntry mail(Kind kind) { return {kind, Algorithm::mail, "mail", why_mail, always, {}}; }

// clang-format off
constexpr std::array table = std::to_array<AlgorithmEntry>({
    {Kind::barrier, Algorithm::alone, "alone", why_alone,
     [](const S&, const Q& q) { return q.ranks == 1; }, {.barrier = barrier_alone}},
    {Kind::barrier, Algorithm::pair, "pair", why_pair, is_pair, {.barrier = barrier_pair},
     [](S& s) { s.barrier_tree_ranks = never; }},
    {Kind::barrier, Algorithm::mesh, "mesh", why_mesh,
     [](const S& s, const Q& q) { return meshes(q, s.barrier_mesh_ranks, 0); }, {.barrier = barrier_mesh},
     [](S& s) { force_barrier(s, never, tree_from_ranks); }},
    {Kind::barrier, Algorithm::tree, "tree", why_tree,
     [](const S& s, const Q& q) { return q.ranks >= s.barrier_tree_ranks; }, {.barrier = barrier_tree},
     [](S& s) { force_barrier(s, tree_from_ranks, never); }},
    {Kind::barrier, Algorithm::cells, "cells", why_cells, always, {.barrier = barrier_cells},
     [](S& s) { force_barrier(s, never, never); }},

    {Kind::bcast, Algorithm::alone, "alone", why_alone, is_alone, {.bcast = bcast_alone}},
    {Kind::bcast, Algorithm::tree, "tree", why_tree,
     [](const S& s, const Q& q) { return fits(q, s.bcast_cells_bytes) && q.ranks >= s.bcast_tree_ranks; },
     {.bcast = bcast_tree}, [](S& s) { force_bcast(s, tree_from_ranks, never, false); }},
    {Kind::bcast, Algorithm::cells, "cells", why_cells,
     [](const S& s, const Q& q) { return fits(q, s.bcast_cells_bytes); },
     {.bcast = bcast_cells}, [](S& s) { force_bcast(s, never, never, false); }},
    {Kind::bcast, Algorithm::single_copy, "single_copy", why_single_copy,
     [](const S& s, const Q& q) {
       return s.single_copy && q.ranks <= s.bcast_single_copy_ranks && at_least(q.bytes, s.bcast_single_copy_bytes);
     },
     {.bcast = bcast_single_copy}, [](S& s) { force_bcast(s, never, 0, true); }},
    {Kind::bcast, Algorithm::chunks, "chunks", why_chunks, always,
     {.bcast = bcast_chunks}, [](S& s) { force_bcast(s, never, 0, false); }, &S::bcast_chunk_bytes},

    {Kind::reduce, Algorithm::alone, "alone", why_alone, is_alone, {.reduce = reduce_alone}},
    {Kind::reduce, Algorithm::tree, "tree", why_tree,
     [](const S& s, const Q& q) {
       return fits(q, s.reduce_cells_bytes) && climbs(s, q, s.reduce_tree_ranks, s.reduce_any_order_tree_ranks);
     },
     {.reduce = reduce_tree}, [](S& s) { force_small_reduce(s, tree_from_ranks); }},
    {Kind::reduce, Algorithm::gathered, "gathered", why_gathered,
     [](const S& s, const Q& q) {
       return q.ranks >= s.reduce_gathered_ranks && gathers(s, q, s.reduce_gathered_ranks);
     }, {.reduce = reduce_gathered},
     [](S& s) {
       force_small_reduce(s, never);
       s.reduce_gathered_ranks = tree_from_ranks;
     }},
    {Kind::reduce, Algorithm::mesh, "mesh", why_mesh,
     [](const S& s, const Q& q) { return meshes(q, s.reduce_mesh_ranks, s.reduce_mesh_bytes); }, {.reduce = reduce_mesh},
     [](S& s) {
       force_small_reduce(s, never);
       s.reduce_mesh_ranks = tree_from_ranks;
     }},
    {Kind::reduce, Algorithm::cells, "cells", why_cells,
     [](const S& s, const Q& q) {
       return fits(q, s.reduce_cells_bytes) && rows_fit(s, q, never, s.reduce_roomy_rows_bytes);
     },
     {.reduce = reduce_cells}, [](S& s) { force_small_reduce(s, never); }},
    {Kind::reduce, Algorithm::chain, "chain", why_chain,
     [](const S& s, const Q& q) { return chains(s, q, s.reduce_chain_bytes, s.reduce_roomy_chain_bytes); },
     {.reduce = reduce_chain}, [](S& s) { force_large_reduce(s, never, 0); }, &S::chain_chunk_bytes},
    {Kind::reduce, Algorithm::slices, "slices", why_slices,
     [](const S& s, const Q& q) {
       return q.ranks >= (q.crowded ? s.reduce_slices_crowded_ranks : s.reduce_slices_ranks);
     },
     {.reduce = reduce_slices}, [](S& s) { force_large_reduce(s, 2, never); }, &S::reduce_chunk_bytes},
    {Kind::reduce, Algorithm::chunks, "chunks", why_chunks, always,
     {.reduce = reduce_chunks}, [](S& s) { force_large_reduce(s, never, never); }, &S::reduce_chunk_bytes},

    {Kind::allreduce, Algorithm::alone, "alone", why_alone, is_alone, {.allreduce = allreduce_alone}},
    {Kind::allreduce, Algorithm::pair, "pair", why_pair, pair_reduces,
     {.allreduce = allreduce_pair}, [](S& s) { s.allreduce_tree_ranks = s.user_op_slices_bytes = never; },
     &S::pair_chunk_bytes},
    {Kind::allreduce, Algorithm::tree, "tree", why_tree,
     [](const S& s, const Q& q) {
       return fits(q, s.allreduce_cells_bytes) && climbs(s, q, s.allreduce_tree_ranks, never);
     },
     {.allreduce = allreduce_tree}, [](S& s) { force_allreduce(s, tree_from_ranks, never, never); }},
    {Kind::allreduce, Algorithm::mesh, "mesh", why_mesh,
     [](const S& s, const Q& q) { return meshes(q, s.allreduce_mesh_ranks, s.allreduce_mesh_bytes); },
     {.allreduce = allreduce_mesh},
     [](S& s) {
       force_allreduce(s, never, never, never);
       s.allreduce_mesh_ranks = tree_from_ranks;
     }},
    {Kind::allreduce, Algorithm::cells, "cells", why_cells,
     [](const S& s, const Q& q) {
       return fits(q, s.allreduce_cells_bytes) &&
              rows_fit(s, q, s.allreduce_roomy_cells_bytes, s.allreduce_roomy_rows_bytes);
     },
     {.allreduce = allreduce_cells}, [](S& s) { force_allreduce(s, never, never, never); }},
    {Kind::allreduce, Algorithm::chain, "chain", why_chain,
     [](const S& s, const Q& q) { return chains(s, q, s.allreduce_chain_bytes, s.allreduce_roomy_chain_bytes); },
     {.allreduce = allreduce_chain}, [](S& s) { force_allreduce(s, never, 0, 0); }, &S::chain_chunk_bytes},
    {Kind::allreduce, Algorithm::slices, "slices", why_slices, always,
     {.allreduce = allreduce_slices}, [](S& s) { force_allreduce(s, never, 0, never); }, &S::allreduce_chunk_bytes},

    {Kind::allgather, Algorithm::pair, "pair", why_swap, swaps, {.blocks = blocks_pair},
     [](S& s) { s.block_pair_bytes = never; }, &S::pair_chunk_bytes},
    {Kind::alltoall, Algorithm::pair, "pair", why_swap, swaps, {.blocks = blocks_pair},
     [](S& s) { s.block_pair_bytes = never; }, &S::pair_chunk_bytes},
    {Kind::alltoall, Algorithm::mesh, "mesh", why_transposed,
     [](const S& s, const Q& q) { return q.ranks >= s.alltoall_mesh_ranks && transposes(s, q, q.bytes, s.alltoall_mesh_ranks); },
     {.blocks = blocks_mesh}, [](S& s) { s.alltoall_mesh_ranks = tree_from_ranks; }},
    {Kind::alltoall, Algorithm::cells, "cells", why_block_cells, blocks_fit, {.blocks = blocks_cells},
     [](S& s) { s.block_pair_bytes = 0, s.block_cells_bytes = s.alltoall_mesh_ranks = never; }},

    {Kind::gather, Algorithm::cells, "cells", why_gather_cells,
     [](const S& s, const Q& q) { return q.ranks != 1 && q.bytes != 0 && fits(q, s.block_cells_bytes); },
     {.blocks = gather_cells}, [](S& s) { s.block_cells_bytes = never; }},
    {Kind::gather, Algorithm::chunks, "chunks", why_gather_chunks,
     [](const S& s, const Q& q) {
       return q.ranks != 1 && q.bytes != 0 && q.bytes <= std::min(s.block_slot_bytes, q.slot_bytes);
     },
     {.blocks = gather_chunks}, [](S& s) { force_block_slots(s); }},
    {Kind::scatter, Algorithm::cells, "cells", why_scatter_cells,
     [](const S& s, const Q& q) {
       return q.ranks != 1 && q.bytes != 0 && q.bytes <= scatter_cell_bytes(s, q) / (q.ranks - 1);
     },
     {.blocks = scatter_cells}, [](S& s) { s.block_cells_bytes = never; }},
    {Kind::scatter, Algorithm::chunks, "chunks", why_scatter_chunks,
     [](const S& s, const Q& q) {
       return q.ranks != 1 && q.bytes > std::min(s.block_cells_bytes, q.cell_bytes) &&
              q.bytes <= std::min(s.block_slot_bytes, q.slot_bytes / (q.ranks - 1));
     },
     {.blocks = scatter_chunks}, [](S& s) { force_block_slots(s); }},

    {Kind::reduce_scatter, Algorithm::alone, "alone", why_alone, is_alone, {.reduce_scatter = reduce_scatter_alone}},
    {Kind::reduce_scatter, Algorithm::mesh, "mesh", why_transposed,
     [](const S& s, const Q& q) {
       return q.ranks >= s.reduce_scatter_mesh_ranks && transposes(s, q, q.block_bytes, s.reduce_scatter_mesh_ranks);
     },
     {.reduce_scatter = reduce_scatter_mesh}, [](S& s) { s.reduce_scatter_mesh_ranks = tree_from_ranks; }},
    {Kind::reduce_scatter, Algorithm::cells, "cells", why_cells,
     [](const S& s, const Q& q) { return fits(q, s.reduce_scatter_cells_bytes); },
     {.reduce_scatter = reduce_scatter_cells}, [](S& s) { force_reduce_scatter(s, never); }},
    {Kind::reduce_scatter, Algorithm::slices, "slices", why_pieces, always,
     {.reduce_scatter = reduce_scatter_slices}, [](S& s) { force_reduce_scatter(s, 0); },
     &S::reduce_scatter_chunk_bytes},

    {Kind::scan, Algorithm::alone, "alone", why_alone, is_alone, {.scan = scan_alone}},
    {Kind::scan, Algorithm::gathered, "gathered", why_scan_gathered,
     [](const S& s, const Q& q) { return q.ranks >= s.scan_gathered_ranks && scan_gathers(s, q); }, {.scan = scan_gathered},
     force_scan_gathered},
    {Kind::scan, Algorithm::cells, "cells", why_cells, scan_fits, {.scan = scan_cells},
     [](S& s) { force_scan(s, never); }},
    {Kind::scan, Algorithm::chain, "chain", why_scan_chain, always, {.scan = scan_chain},
     [](S& s) { force_scan(s, 0); }, &S::scan_chunk_bytes},
    {Kind::exscan, Algorithm::alone, "alone", why_alone, is_alone, {.scan = scan_alone}},
    {Kind::exscan, Algorithm::gathered, "gathered", why_scan_gathered,
     [](const S& s, const Q& q) { return q.ranks >= s.scan_gathered_ranks && scan_gathers(s, q); }, {.scan = scan_gathered},
     force_scan_gathered},
    {Kind::exscan, Algorithm::cells, "cells", why_cells, scan_fits, {.scan = scan_cells},
     [](S& s) { force_scan(s, never); }},
    {Kind::exscan, Algorithm::single_copy, "single_copy", why_exscan_copy,
     [](const S& s, const Q& q) {
       return s.single_copy && is_pair(s, q) && at_least(q.bytes, s.exscan_single_copy_bytes);
     },
     {.scan = exscan_single_copy}, force_exscan_copy},
    {Kind::exscan, Algorithm::chain, "chain", why_scan_chain, always, {.scan = scan_chain},
     [](S& s) { force_scan(s, 0); }, &S::scan_chunk_bytes},

    mail(Kind::gather), mail(Kind::scatter), mail(Kind::allgather), mail(Kind::alltoall), mail(Kind::neighbor),
});
// clang-format on

// The compiler sees every condition: no call through a pointer is left of them.
template <std::size_t... index>
const AlgorithmEntry* first(const Selection& selection, Kind kind, const Question& question,
                            std::index_sequence<index...>) {
  const AlgorithmEntry* found = nullptr;
  // NOLINTNEXTLINE(bugprone-assignment-in-selection-statement): the first that takes it is kept, and no other asked
  (void)((table[index].kind == kind && table[index].takes(selection, question) && (found = &table[index])) || ...);
  return found;
}

}  // namespace

std::span<const AlgorithmEntry> algorithms() { return table; }

const AlgorithmEntry& choose(const Selection& selection, Kind kind, const Question& question) {
  const AlgorithmEntry* const entry = first(selection, kind, question, std::make_index_sequence<table.size()>());
  return entry ? *entry : table.front();
}

const AlgorithmEntry* find_algorithm(Kind kind, Algorithm algorithm) {
  for (const AlgorithmEntry& entry : table)
    if (entry.kind == kind && entry.algorithm == algorithm) return &entry;
  return nullptr;
}

}  // namespace millrace::collective
