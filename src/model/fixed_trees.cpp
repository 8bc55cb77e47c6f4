#include "model/fixed_trees.h"

#include <algorithm>

namespace millrace::model {
namespace {

using collective::Kind;
using collective::TreeKind;
using collective::TreeNode;
using collective::TreeShape;

constexpr std::size_t all_cells_bytes = 32 << 10;  // of a rank
// Flags of Bcast, and of Reduce.
constexpr std::size_t bcast_set = 0, reduce_set = 1, sets = 2;

// Section VI: below 512 bytes a 4-nomial tree; else one for each socket, the leaders of the others last, with three
// children below 8 KiB and two from there on.
TreeShape shape_of_reduce(std::size_t bytes) {
  if (bytes < 512) return {.kind = TreeKind::knomial, .arity = 4, .levels = 0};
  return {.kind = TreeKind::kary,
          .arity = bytes < (8 << 10) ? 3u : 2u,
          .levels = 1,
          .leaders_first = false,
          .large_first = false};
}

}  // namespace

FixedTrees::Tree FixedTrees::grow(const Machine& machine, const TreeShape& shape) const {
  std::vector<shared_memory::Place> places;
  places.reserve(ranks_);
  for (std::uint32_t rank = 0; rank < ranks_; ++rank) places.push_back(machine.place(rank % machine.core_count()));
  Tree tree{std::vector<TreeNode>(ranks_), std::vector<std::uint32_t>(ranks_)};
  std::vector<std::uint32_t> scratch(std::size_t{4} * ranks_);
  collective::build_tree(places, shape, tree.nodes, tree.children, scratch);
  return tree;
}

bool FixedTrees::open(Clockwork& clockwork, const Question& question, std::size_t bytes, std::size_t each_bytes) {
  clockwork_ = &clockwork;
  ranks_ = question.ranks;
  cells_ = question.fixed.cells;
  copies_at_root_ = question.fixed.copies_at_root;
  cell_bytes_ = all_cells_bytes / cells_;
  bytes_ = bytes;
  each_bytes_ = each_bytes;
  states_.resize(ranks_);
  up_ = grow(question.machine, question.fixed.has_tree ? question.selection.gather_tree : shape_of_reduce(bytes));
  // Flags of a Bcast go to all at once; a Barrier has no data, and a tree both ways.
  down_ = question.kind == Kind::barrier ? up_ : grow(question.machine, {.kind = TreeKind::flat});
  const std::size_t shared_bytes = ranks_ * (sets * sizeof(Flags) + cells_ * cell_bytes_);
  if (!shared_.map(shared_bytes) || !owned_.map(ranks_ * each_bytes)) return false;
  clockwork.share(shared_.base(), shared_bytes);
  clockwork.own(owned_.base(), each_bytes);
  return true;
}

char* FixedTrees::cell(std::uint32_t rank, std::uint64_t piece) const {
  return shared_.base() + ranks_ * sets * sizeof(Flags) + (std::size_t{rank} * cells_ + piece % cells_) * cell_bytes_;
}

void FixedTrees::store(std::atomic<std::uint64_t>& flag, std::uint64_t value) {
  flag.store(value, std::memory_order_relaxed);
  clockwork_->published(flag, value);
}

void FixedTrees::bcast(std::size_t bytes) {
  const std::uint32_t rank = clockwork_->rank();
  State& state = states_[rank];
  const TreeNode& node = down_.nodes[rank];
  char* const data = owned_.base() + rank * each_bytes_;
  for (std::size_t first = 0; first == 0 || first < bytes; first += cell_bytes_) {
    const std::size_t length = std::min(cell_bytes_, bytes - first);
    const std::uint64_t piece = state.bcasts++;
    if (rank == 0) {
      if (piece >= cells_ + state.bcast_free) {
        for (std::uint32_t index = 0; index < node.child_count; ++index)
          clockwork_->wait(flags(bcast_set, down_.children[node.first_child + index]).gather, piece - cells_ + 1);
        state.bcast_free = piece - cells_ + 1;
      }
      if (length != 0) clockwork_->copied(cell(0, piece), data + first, length);
    } else {
      clockwork_->wait(flags(bcast_set, node.parent).release, piece + 1);
    }
    if (node.child_count != 0) store(flags(bcast_set, rank).release, piece + 1);
    if (rank == 0) continue;
    if (length != 0) clockwork_->copied(data + first, cell(0, piece), length);
    for (std::uint32_t index = 0; index < node.child_count; ++index)
      clockwork_->wait(flags(bcast_set, down_.children[node.first_child + index]).gather, piece + 1);
    store(flags(bcast_set, rank).gather, piece + 1);
  }
}

void FixedTrees::reduce(std::size_t bytes) {
  const std::uint32_t rank = clockwork_->rank();
  State& state = states_[rank];
  const TreeNode& node = up_.nodes[rank];
  const char* const in = owned_.base() + rank * each_bytes_;
  char* const out = owned_.base() + rank * each_bytes_ + bytes;
  for (std::size_t first = 0; first == 0 || first < bytes; first += cell_bytes_) {
    const std::size_t length = std::min(cell_bytes_, bytes - first);
    const std::uint64_t piece = state.reduces++;
    char* const into = rank == 0 && !copies_at_root_ ? out + first : cell(rank, piece);
    // The parent has read what stood there.
    if (rank != 0 && piece >= cells_) clockwork_->wait(flags(reduce_set, node.parent).release, piece - cells_ + 1);
    if (node.child_count == 0 && length != 0) clockwork_->copied(into, in + first, length);
    for (std::uint32_t index = 0; index < node.child_count; ++index) {
      const std::uint32_t child = up_.children[node.first_child + index];
      clockwork_->wait(flags(reduce_set, child).gather, piece + 1);
      const void* const inputs[] = {cell(child, piece), index == 0 ? in + first : into};
      if (length != 0) clockwork_->reduced(inputs, 2, into, length);
    }
    if (into != out + first && rank == 0 && length != 0) clockwork_->copied(out + first, into, length);
    if (node.child_count != 0) store(flags(reduce_set, rank).release, piece + 1);
    if (rank != 0) store(flags(reduce_set, rank).gather, piece + 1);
  }
}

void FixedTrees::call(Kind kind) {
  if (kind != Kind::bcast) reduce(kind == Kind::barrier ? 0 : bytes_);
  if (kind != Kind::reduce) bcast(kind == Kind::barrier ? 0 : bytes_);
}

}  // namespace millrace::model
