#include "plan/collective.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

namespace millrace::plan {
namespace {

using namespace millrace::collective;

// Takes what stands before the next `separator` off the front of `text`.
std::string_view take(std::string_view& text, char separator) {
  const std::size_t end = std::min(text.find(separator), text.size());
  const std::string_view front = text.substr(0, end);
  text.remove_prefix(std::min(end + 1, text.size()));
  return front;
}

bool kind_of_tree(std::string_view word, TreeShape& shape) {
  const std::string_view name = take(word, ':');
  if (name == "flat") {
    shape.kind = TreeKind::flat;
    return word.empty();
  }
  if (name != "kary" && name != "knomial") return false;
  shape.kind = name == "kary" ? TreeKind::kary : TreeKind::knomial;
  const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), shape.arity);
  return error == std::errc{} && end == word.data() + word.size() && shape.arity >= 2 && shape.arity <= 1024;
}

// "allreduce=slices": thresholds such that this algorithm does every size that it can do. The others of its kind do the
// rest: cells hold only so much.
bool force(std::string_view word, Selection& selection) {
  const std::string_view kind = take(word, '=');
  const bool tree = word == "tree", cells = word == "cells", small = tree || cells;
  const std::uint32_t tree_ranks = tree ? 3 : never, most = small ? never : 0;
  if (kind == "barrier" && (small || word == "pair")) {
    selection.barrier_tree_ranks = tree_ranks;
    if (small) selection.pair = false;
  } else if (kind == "bcast" && (small || word == "chunks" || word == "single_copy")) {
    selection.bcast_tree_ranks = tree_ranks;
    selection.bcast_cells_bytes = most;
    selection.bcast_single_copy_bytes = word == "single_copy" ? 0 : never;
    selection.bcast_chunks_bytes = never;
    if (word == "single_copy") selection.bcast_single_copy_ranks = never;
  } else if (kind == "reduce" && (small || word == "chunks" || word == "slices" || word == "chain")) {
    selection.reduce_tree_ranks = tree_ranks;
    selection.reduce_cells_bytes = most;
    if (!small) selection.reduce_slices_ranks = selection.reduce_slices_crowded_ranks = word == "slices" ? 2 : never;
    selection.reduce_chain_bytes = word == "chain" ? 0 : never;
  } else if (kind == "allreduce" && (small || word == "slices" || word == "chain" || word == "pair")) {
    selection.allreduce_tree_ranks = tree_ranks;
    if (word != "pair") {
      selection.allreduce_cells_bytes = most;
      selection.allreduce_chain_bytes = word == "chain" ? 0 : never;
      selection.pair = false;
    }
  } else {
    return false;
  }
  return true;
}

const char* reason(Algorithm algorithm) {
  switch (algorithm) {
    case Algorithm::alone: return "nothing needs another rank";
    case Algorithm::pair: return "two ranks: both send all and reduce all, in buffers that change hands";
    case Algorithm::cells: return "fits a cell: whoever needs it reads it from where its owner put it";
    case Algorithm::tree: return "fits a cell, and so many ranks that a tree has fewer steps";
    case Algorithm::chunks: return "larger than a cell: a ring of chunks, filled and emptied at the same time";
    case Algorithm::slices: return "larger than a cell: every rank reduces its slice of each chunk";
    case Algorithm::mail: return "every two ranks have a mailbox for each direction; all messages advance together";
    case Algorithm::chain:
      return "ranks share cores: each in turn reduces into what the one before it left, and copies nothing in";
    case Algorithm::single_copy:
      return "large: copied once, out of the root's memory; where that may not be read, by chunks as for more ranks";
  }
  return "";
}

std::uint32_t chunk_bytes(const Selection& selection, const Shape& shape, Kind kind, Algorithm algorithm) {
  const std::uint32_t wanted = algorithm == Algorithm::pair    ? selection.pair_chunk_bytes
                               : algorithm == Algorithm::chain ? selection.chain_chunk_bytes
                               : kind == Kind::bcast           ? selection.bcast_chunk_bytes
                               : kind == Kind::reduce          ? selection.reduce_chunk_bytes
                                                               : selection.allreduce_chunk_bytes;
  return std::min(wanted, shape.slot_bytes);
}

}  // namespace

bool tree_shape_of(std::string_view text, TreeShape& shape) {
  TreeShape read;
  if (!kind_of_tree(take(text, ','), read)) return false;
  while (!text.empty()) {
    const std::string_view word = take(text, ',');
    if (word == "socket") {
      read.levels = std::max(read.levels, 1u);
    } else if (word == "cache") {
      read.levels = 2;
    } else if (word == "leaders-last") {
      read.leaders_first = false;
    } else if (word == "small-first") {
      read.large_first = false;
    } else {
      return false;
    }
  }
  shape = read;
  return true;
}

namespace {

// "kary:2/flat": from the root and to it; one shape is for both.
bool tree_shapes_of(std::string_view text, Selection& selection) {
  const std::string_view from_root = take(text, '/');
  TreeShape first, second;
  if (!tree_shape_of(from_root, first) || !tree_shape_of(text.empty() ? from_root : text, second)) return false;
  selection.tree = first;
  selection.gather_tree = second;
  return true;
}

}  // namespace

Selection select_collectives(const CollectiveSettings& settings, std::string& complaint, const Selection& thresholds) {
  Selection selection = thresholds;
  selection.single_copy = settings.single_copy;
  complaint.clear();
  if (!settings.tree.empty() && !tree_shapes_of(settings.tree, selection))
    complaint = fmt::format("MILLRACE_TREE={} is not a tree: using knomial:4", settings.tree);
  for (std::string_view rest = settings.force; !rest.empty();) {
    const std::string_view word = take(rest, ',');
    if (!force(word, selection) && complaint.empty())
      complaint = fmt::format("MILLRACE_ALGORITHM: '{}' is not a collective and an algorithm for it: ignored", word);
  }
  if (settings.rank_order) selection.reduce_tree_ranks = selection.allreduce_tree_ranks = never;
  return selection;
}

std::string explain_collective(const Selection& selection, const Shape& shape, Kind kind, std::size_t bytes,
                               bool in_order, bool crowded) {
  const Algorithm algorithm = choose(selection, kind, bytes, shape.ranks, shape.cell_bytes, in_order, crowded);
  if (algorithm == Algorithm::mail && shape.letters == 0)
    return fmt::format("{} among {} ranks: the host MPI, so many mailboxes need too much memory\n", kind_name(kind),
                       shape.ranks);
  std::string text = fmt::format("{} of {} bytes among {} ranks: {}_{}\n  {}\n", kind_name(kind), bytes, shape.ranks,
                                 kind_name(kind), algorithm_name(algorithm), reason(algorithm));
  const std::uint32_t chunk = chunk_bytes(selection, shape, kind, algorithm);
  const bool chunked = algorithm == Algorithm::chunks || algorithm == Algorithm::slices ||
                       algorithm == Algorithm::chain || (algorithm == Algorithm::pair && bytes > chunk);
  if (chunked) text += fmt::format("  {} chunks of {} bytes\n", (bytes + chunk - 1) / chunk, chunk);
  if (kind == Kind::reduce || kind == Kind::allreduce)
    text += algorithm == Algorithm::tree ? "  order: that of the tree, the same on every rank and in every run\n"
                                         : "  order: the left fold in rank order\n";
  return text;
}

}  // namespace millrace::plan
