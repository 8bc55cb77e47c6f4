#include "collective/known_call.h"

#include "collective/exchange_label.h"

namespace millrace::collective {
namespace {

Question question_of(const Group& group, std::size_t bytes) {
  return {.bytes = bytes,
          .ranks = group.ranks(),
          .cell_bytes = group.shape().cell_bytes,
          .crowded = group.crowded(),
          .slot_bytes = group.shape().slot_bytes,
          .in_background = group.in_background()};
}

const AlgorithmEntry& chosen(const Group& group, Kind kind, std::size_t bytes) {
  return choose(group.selection(), kind, question_of(group, bytes));
}

// Ranks whose types say that they go along a tree do not meet those that do not, nor in a mesh ranks whose elements
// have other sizes: that is an error of the program. Messages that go there leave these bits free.
constexpr std::uint64_t tree_label = std::uint64_t{1} << 39;
std::uint64_t label_of(const AlgorithmEntry& entry, std::uint64_t label, const Reducer& reducer) {
  switch (entry.algorithm) {
    case Algorithm::tree: return label ^ tree_label;
    case Algorithm::mesh: return label ^ tree_label >> 1 ^ (reducer.element_bytes & 63) << 32;
    default: return label;
  }
}

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

KnownCall known_of(const Group& group, Kind kind, std::size_t bytes, std::uint64_t label, std::size_t block_bytes,
                   const Reducer& reducer, std::uint32_t root) {
  if (too_large(group, reducer)) return {};
  Question question = question_of(group, bytes);
  question.in_order = in_order(reducer, kind);
  question.any_order = reducer.any_order;
  question.element_bytes = reducer.element_bytes;
  question.block_bytes = block_bytes;
  const AlgorithmEntry& entry = choose(group.selection(), kind, question);
  return {&entry, Group::what_of(kind, label_of(entry, label, reducer), root)};
}

}  // namespace

KnownCall known_barrier(const Group& group) {
  return {&chosen(group, Kind::barrier, 0), Group::what_of(Kind::barrier, 0, 0)};
}

KnownCall known_bcast(const Group& group, std::size_t bytes, std::uint32_t root) {
  const AlgorithmEntry* entry = &chosen(group, Kind::bcast, bytes);
  if (entry->algorithm == Algorithm::single_copy && !group.reads_memory())
    entry = find_algorithm(Kind::bcast, Algorithm::chunks);
  // The root says how many bytes it sends, but for the tree; so ranks need only have chosen the same.
  const std::uint64_t label =
      entry->algorithm == Algorithm::tree ? bytes : ~static_cast<std::uint64_t>(entry->algorithm);
  return {entry, Group::what_of(Kind::bcast, label, root)};
}

KnownCall known_reduction(const Group& group, Kind kind, std::size_t bytes, const Reducer& reducer,
                          std::uint32_t root) {
  return known_of(group, kind, bytes, bytes, 0, reducer, root);
}

KnownCall known_reduce_scatter(const Group& group, const Blocking& blocks, const Reducer& reducer) {
  const std::size_t bytes = blocks.elements() * reducer.element_bytes;
  if (blocks.are_alike()) return known_of(group, Kind::reduce_scatter, bytes, bytes, bytes / group.ranks(), reducer, 0);
  std::uint64_t label = bytes;
  for (std::uint32_t rank = 0; rank < blocks.ranks(); ++rank)
    label = spread(label ^ blocks.count(rank)) >> 24;  // enter() keeps the low bits
  return known_of(group, Kind::reduce_scatter, bytes, label, 0, reducer, 0);
}

KnownCall known_blocks(const Group& group, Kind kind, std::size_t bytes, std::uint32_t root) {
  const AlgorithmEntry& entry = chosen(group, kind, bytes);
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
