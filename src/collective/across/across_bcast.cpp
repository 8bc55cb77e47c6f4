#include <algorithm>

#include "collective/across/across.h"

namespace millrace::collective {

// The ranks of the node do what comes before and after.
class Across::BcastSteps {
 public:
  // `first_here`: it is given out on this node before it crosses, by the root at `place`; else after, by the crosser.
  BcastSteps(Across& across, char* data, std::size_t bytes, std::uint32_t place, bool first_here)
      : across_(across), data_(data), bytes_(bytes), place_(place), first_here_(first_here) {}

  PieceSteps steps() {
    return {this,
            [](void* self, std::size_t first, std::size_t) { return static_cast<BcastSteps*>(self)->before(first); },
            [](void* self, std::size_t first, std::size_t length) {
              return static_cast<BcastSteps*>(self)->after(first, length);
            }};
  }

 private:
  Result before(std::size_t first) { return first_here_ && first % bcast_given_bytes == 0 ? give(first) : Result::ok; }
  Result after(std::size_t first, std::size_t length) {
    const std::size_t end = first + length;
    if (first_here_ || (end % bcast_given_bytes != 0 && end != bytes_)) return Result::ok;
    return give((end - 1) / bcast_given_bytes * bcast_given_bytes);
  }

  Result give(std::size_t first) {
    return across_.here_bcast(data_ + first, std::min(bcast_given_bytes, bytes_ - first), place_);
  }

  Across& across_;
  char* data_;
  std::size_t bytes_;
  std::uint32_t place_;
  bool first_here_;
};

Result Across::bcast(void* buffer, std::size_t bytes, std::uint32_t root) {
  if (const Result result = begin(Kind::bcast, bytes, root); result != Result::ok) return result;
  const std::uint32_t root_node = map_.node_of(root), root_place = map_.place_of(root);
  // Where all nodes have as many ranks, those at the root's place need no leader between them.
  const bool by_place = map_.is_even();
  const std::uint32_t crosser = by_place ? root_place : 0;
  const Line line = by_place ? Line::places : Line::leaders;
  const bool first_here = crosser != root_place && node() == root_node;
  char* const data = static_cast<char*>(buffer);
  const std::uint32_t giver = first_here ? root_place : crosser;
  if (place() == crosser) {
    BcastSteps steps(*this, data, bytes, giver, first_here);
    return stepped(wire_->bcast_pieces(line, data, bytes, bcast_piece_bytes, root_node, steps.steps()));
  }
  for (std::size_t first = 0; first < bytes; first += bcast_given_bytes) {
    const std::size_t length = std::min(bcast_given_bytes, bytes - first);
    if (const Result result = here_bcast(data + first, length, giver); result != Result::ok) return result;
  }
  return Result::ok;
}

}  // namespace millrace::collective
