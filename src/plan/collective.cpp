#include "plan/collective.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <string>
#include <vector>

#include "collective/algorithms.h"

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

// "allreduce=slices"
bool force(std::string_view word, Selection& selection) {
  const std::string_view kind = take(word, '=');
  for (const AlgorithmEntry& entry : algorithms())
    if (kind == kind_name(entry.kind) && word == entry.name && entry.force) {
      entry.force(selection);
      return true;
    }
  return false;
}

// Why a word of MILLRACE_ALGORITHM forces nothing: what could stand there instead.
std::string choices_instead_of(std::string_view word) {
  const std::string_view kind = word.substr(0, word.find('='));
  std::vector<std::string_view> kinds, names;
  for (const AlgorithmEntry& entry : algorithms()) {
    if (!entry.force) continue;
    if (std::ranges::find(kinds, kind_name(entry.kind)) == kinds.end()) kinds.emplace_back(kind_name(entry.kind));
    if (kind == kind_name(entry.kind)) names.emplace_back(entry.name);
  }
  if (names.empty())
    return fmt::format("MILLRACE_ALGORITHM: '{}' is not one of {}, with '=' and an algorithm: ignored", word,
                       fmt::join(kinds, ", "));
  return fmt::format("MILLRACE_ALGORITHM: '{}' is not one of {}={}: ignored", word, kind, fmt::join(names, "|"));
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
    if (!force(word, selection) && complaint.empty()) complaint = choices_instead_of(word);
  }
  if (settings.rank_order) selection.reduce_tree_ranks = selection.allreduce_tree_ranks = never;
  return selection;
}

std::string explain_collective(const Selection& selection, const GroupShape& shape, Kind kind, std::size_t bytes,
                               bool in_order, bool crowded) {
  const Question question{bytes, shape.ranks, shape.cell_bytes, in_order, crowded, shape.slot_bytes};
  const AlgorithmEntry& entry = choose(selection, kind, question);
  if (entry.algorithm == Algorithm::mail && shape.letters == 0)
    return fmt::format("{} among {} ranks: the host MPI, so many mailboxes need too much memory\n", kind_name(kind),
                       shape.ranks);
  std::string text = fmt::format("{} of {} bytes among {} ranks: {}_{}\n  {}\n", kind_name(kind), bytes, shape.ranks,
                                 kind_name(kind), entry.name, entry.why);
  if (entry.chunk_bytes) {
    const std::uint32_t wanted = entry.algorithm == Algorithm::chain ? chain_chunk_bytes(selection, question)
                                 : kind == Kind::bcast               ? bcast_chunk_bytes(selection, shape.ranks, bytes)
                                                                     : selection.*entry.chunk_bytes;
    const std::uint32_t chunk = std::min(wanted, shape.slot_bytes);
    if (bytes > chunk) text += fmt::format("  {} chunks of {} bytes\n", (bytes + chunk - 1) / chunk, chunk);
  }
  Question exact = question;
  exact.any_order = true;
  if (const AlgorithmEntry& other = choose(selection, kind, exact); other.algorithm != entry.algorithm)
    text += fmt::format("  of integers and truth values, whose order makes no difference: {}_{}\n", kind_name(kind),
                        other.name);
  if (kind == Kind::reduce || kind == Kind::allreduce || kind >= Kind::reduce_scatter)
    text += entry.algorithm == Algorithm::tree ? "  order: that of the tree, the same on every rank and in every run\n"
                                               : "  order: the left fold in rank order\n";
  return text;
}

}  // namespace millrace::plan
