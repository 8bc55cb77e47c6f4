#include "collective/selection.h"

#include <algorithm>

namespace millrace::collective {
namespace {

Algorithm choose_small(bool tree) { return tree ? Algorithm::tree : Algorithm::cells; }

}  // namespace

const Selection& standard_selection() {
  static constexpr Selection selection{};
  return selection;
}

Algorithm choose(const Selection& selection, Kind kind, std::size_t bytes, std::uint32_t ranks,
                 std::uint32_t cell_bytes, bool in_order, bool crowded) {
  const auto fits = [&](std::uint32_t limit_bytes) { return bytes <= std::min(limit_bytes, cell_bytes); };
  // A limit of 0 bytes forces it.
  const auto chained = [&](std::uint32_t from_bytes, Algorithm otherwise) {
    const bool wanted = crowded && ranks >= selection.chain_ranks && bytes >= from_bytes && from_bytes != never;
    return wanted || from_bytes == 0 ? Algorithm::chain : otherwise;
  };
  const bool reduces_or_bcasts = kind == Kind::bcast || kind == Kind::reduce || kind == Kind::allreduce;
  if (ranks == 1 || (bytes == 0 && reduces_or_bcasts)) return Algorithm::alone;
  switch (kind) {
    case Kind::barrier:
      return ranks == 2 && selection.pair ? Algorithm::pair : choose_small(ranks >= selection.barrier_tree_ranks);
    case Kind::bcast:
      if (fits(selection.bcast_cells_bytes)) return choose_small(ranks >= selection.bcast_tree_ranks);
      return selection.single_copy && ranks <= selection.bcast_single_copy_ranks &&
                     at_least(bytes, selection.bcast_single_copy_bytes) &&
                     !at_least(bytes, selection.bcast_chunks_bytes)
                 ? Algorithm::single_copy
                 : Algorithm::chunks;
    case Kind::reduce:
      if (fits(selection.reduce_cells_bytes)) return choose_small(!in_order && ranks >= selection.reduce_tree_ranks);
      return chained(selection.reduce_chain_bytes,
                     ranks >= (crowded ? selection.reduce_slices_crowded_ranks : selection.reduce_slices_ranks)
                         ? Algorithm::slices
                         : Algorithm::chunks);
    case Kind::allreduce:
      if (ranks == 2 && selection.pair) return Algorithm::pair;
      if (fits(selection.allreduce_cells_bytes))
        return choose_small(!in_order && ranks >= selection.allreduce_tree_ranks);
      return chained(selection.allreduce_chain_bytes, Algorithm::slices);
    case Kind::gather:
    case Kind::scatter:
    case Kind::allgather:
    case Kind::alltoall:
    case Kind::neighbor: return Algorithm::mail;
  }
  return Algorithm::alone;
}

const char* kind_name(Kind kind) {
  switch (kind) {
    case Kind::barrier: return "barrier";
    case Kind::bcast: return "bcast";
    case Kind::reduce: return "reduce";
    case Kind::allreduce: return "allreduce";
    case Kind::gather: return "gather";
    case Kind::scatter: return "scatter";
    case Kind::allgather: return "allgather";
    case Kind::alltoall: return "alltoall";
    case Kind::neighbor: return "neighbor";
  }
  return "?";
}

const char* algorithm_name(Algorithm algorithm) {
  switch (algorithm) {
    case Algorithm::alone: return "alone";
    case Algorithm::pair: return "pair";
    case Algorithm::cells: return "cells";
    case Algorithm::tree: return "tree";
    case Algorithm::chunks: return "chunks";
    case Algorithm::slices: return "slices";
    case Algorithm::mail: return "mail";
    case Algorithm::chain: return "chain";
    case Algorithm::single_copy: return "single_copy";
  }
  return "?";
}

}  // namespace millrace::collective
