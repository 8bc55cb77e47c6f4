#include "collective/known_call.h"

#include "collective/exchange_label.h"

namespace millrace::collective {
namespace {

const AlgorithmEntry& chosen(const Group& group, Kind kind, std::size_t bytes, bool in_order, bool in_background,
                             bool any_order = false) {
  return choose(group.selection(), kind,
                {.bytes = bytes,
                 .ranks = group.ranks(),
                 .cell_bytes = group.shape().cell_bytes,
                 .in_order = in_order,
                 .crowded = group.crowded(),
                 .slot_bytes = group.shape().slot_bytes,
                 .in_background = in_background,
                 .any_order = any_order});
}

// Ranks whose types say that they go along a tree do not meet those that do not: that is an error of the program.
constexpr std::uint64_t tree_label = std::uint64_t{1} << 39;

// A chunk must hold at least an element per rank.
bool too_large(const Group& group, const Reducer& reducer) {
  return reducer.element_bytes == 0 || reducer.element_bytes > group.shape().slot_bytes / group.ranks();
}

bool in_order(const Reducer& reducer, Kind kind) {
  return kind == Kind::scan || kind == Kind::exscan || !reducer.commutative || !reducer.reduce2;
}

bool is_rooted(Kind kind) { return kind == Kind::gather || kind == Kind::scatter; }

// Ranks that go different ways have called with different labels; exchange() and publish() use those of roots and
// their complements.
std::uint64_t label_of(const Group& group, const AlgorithmEntry& entry, std::size_t bytes) {
  const std::size_t chunk = std::min(group.selection().pair_chunk_bytes, group.shape().slot_bytes);
  const std::uint64_t way = bytes <= block_line_bytes ? 0 : bytes <= chunk ? 1 : 2;
  return std::uint64_t{1} << 40 | static_cast<std::uint64_t>(entry.algorithm) << 2 | way;
}

}  // namespace

KnownCall known_barrier(const Group& group) {
  return {&chosen(group, Kind::barrier, 0, false, group.in_background()), Group::what_of(Kind::barrier, 0, 0)};
}

KnownCall known_bcast(const Group& group, std::size_t bytes, std::uint32_t root) {
  const AlgorithmEntry* entry = &chosen(group, Kind::bcast, bytes, false, group.in_background());
  if (entry->algorithm == Algorithm::single_copy && !group.reads_memory())
    entry = find_algorithm(Kind::bcast, Algorithm::chunks);
  // The root says how many bytes it sends, but for the tree; so ranks need only have chosen the same.
  const std::uint64_t label =
      entry->algorithm == Algorithm::tree ? bytes : ~static_cast<std::uint64_t>(entry->algorithm);
  return {entry, Group::what_of(Kind::bcast, label, root)};
}

KnownCall known_reduction(const Group& group, Kind kind, std::size_t bytes, std::uint64_t label, const Reducer& reducer,
                          std::uint32_t root) {
  if (too_large(group, reducer)) return {};
  const AlgorithmEntry& entry =
      chosen(group, kind, bytes, in_order(reducer, kind), group.in_background(), reducer.any_order);
  return {&entry, Group::what_of(kind, entry.algorithm == Algorithm::tree ? label ^ tree_label : label, root)};
}

KnownCall known_reduction(const Group& group, Kind kind, std::size_t bytes, const Reducer& reducer,
                          std::uint32_t root) {
  return known_reduction(group, kind, bytes, bytes, reducer, root);
}

KnownCall known_blocks(const Group& group, Kind kind, std::size_t bytes, std::uint32_t root) {
  const AlgorithmEntry& entry = chosen(group, kind, bytes, false, false);
  if (!entry.run.blocks || bytes > most_block_bytes) return {};
  const std::uint64_t label = label_of(group, entry, bytes) + (is_rooted(kind) ? std::uint64_t{root} << 16 : 0);
  return {&entry, what_of_label(kind, label)};
}

Result bcast(Group& group, const KnownCall& known, void* buffer, std::size_t bytes, std::uint32_t root,
             std::size_t* came_bytes) {
  Call call;
  if (const Result result = group.enter(known.what, call); result != Result::ok) return result;
  std::size_t came = bytes;
  const Result result = known.entry->run.bcast(group, call, buffer, came, root);
  if (came_bytes) *came_bytes = came;
  return result == Result::ok && came > bytes ? Result::truncated : result;
}

}  // namespace millrace::collective
