// One rank of a group whose other ranks are the input: each time it waits, the next bytes say what stands in the memory
// that they share. Its calls may fail, but nothing outside of it is touched. Bytes of the input:
//
//   0 ranks and own rank   1 settings   2-5 what is called   then steps, one for each round of waiting:
//     as a good peer would: what this rank wrote, copied into the block of another
//     a number somewhere where numbers steer something
#include <sys/mman.h>

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "../tests/collective/scribble.h"
#include "collective/group.h"

namespace {

using namespace millrace::collective;

class Input {
 public:
  Input(const std::uint8_t* data, std::size_t size) : at_(data), end_(data + size) {}
  bool empty() const { return at_ == end_; }
  std::uint64_t number(int bytes) {
    std::uint64_t value = 0;
    for (; bytes > 0; --bytes) value = value << 8 | (empty() ? 0u : *at_++);
    return value;
  }

 private:
  const std::uint8_t *at_, *end_;
};

// The segment between pages that nobody may touch.
class Segment {
 public:
  explicit Segment(std::size_t bytes) : bytes_(bytes) {
    void* const base = mmap(nullptr, bytes + 2 * page_bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (base == MAP_FAILED) std::abort();
    base_ = static_cast<char*>(base) + page_bytes;
    if (mprotect(base_, bytes, PROT_READ | PROT_WRITE) != 0) std::abort();
  }
  ~Segment() { munmap(base_ - page_bytes, bytes_ + 2 * page_bytes); }
  Segment(const Segment&) = delete;
  Segment& operator=(const Segment&) = delete;
  char* base() const { return base_; }

 private:
  std::size_t bytes_;
  char* base_;
};

class Peers {
 public:
  Peers(Input& input, char* segment, const GroupShape& shape, std::uint32_t self)
      : input_(input), segment_(segment), shape_(shape), layout_(block_layout(shape)), self_(self) {}

  void join_all() {
    for (std::uint32_t rank = 0; rank < shape_.ranks; ++rank)
      if (rank != self_) std::memcpy(block(rank), block(self_), sizeof(Member));
  }

  // False at the end of the input: the host says that a peer is gone.
  bool step() {
    if (input_.empty()) return false;
    for (bool more = true; more && !input_.empty();) {
      const auto what = input_.number(1);
      const auto rank = static_cast<std::uint32_t>(what % 128 / 8 % shape_.ranks);
      if (what % 8 < 3)
        be_good(rank);
      else
        write(rank);
      more = what >= 128;  // before this rank looks again
    }
    return true;
  }

 private:
  char* block(std::uint32_t rank) const { return segment_ + page_bytes + rank * layout_.bytes; }
  char* mailbox(std::uint32_t from, std::uint32_t to) const {
    return block(from) + layout_.mailboxes + to * layout_.mailbox_stride;
  }

  // All flags, cells and letters, as if the other had called the same and sent the same.
  void be_good(std::uint32_t rank) {
    if (rank == self_) return;
    std::memcpy(block(rank), block(self_), layout_.slots);
    std::memcpy(mailbox(rank, self_), mailbox(self_, rank), layout_.mailbox_stride);
    if (shape_.ranks != 2) return;
    auto& head = *reinterpret_cast<Head*>(segment_);
    head.pair_line.sides[rank].mark.store(head.pair_line.sides[self_].mark.load());
    for (std::uint32_t index = 0; index < pair_buffer_count; ++index)
      std::memcpy(block(rank) + layout_.pair_buffers + index * layout_.pair_stride,
                  block(self_) + layout_.pair_buffers + index * layout_.pair_stride, sizeof(PairHead));
  }

  char* newest_letter(std::uint32_t from) const {
    auto* const letters = reinterpret_cast<Letter*>(mailbox(from, self_));
    std::uint32_t newest = 0;
    for (std::uint32_t each = 1; each < shape_.letters; ++each)
      if (letters[each].sequence.load() > letters[newest].sequence.load()) newest = each;
    return reinterpret_cast<char*>(letters + newest);
  }

  void write(std::uint32_t rank) {
    const auto where = input_.number(1), offset = input_.number(1);
    char* at = segment_;
    std::size_t room = sizeof(Head);
    const std::uint64_t index = where % 128 / 8;
    const std::size_t width = where < 128 ? sizeof(std::uint64_t) : sizeof(std::uint32_t);
    switch (where % 8) {
      case 0: break;
      case 1: at = block(rank), room = sizeof(Member); break;
      case 2:
        at = block(rank) + offsetof(Member, calls_done), room = sizeof(Member) - offsetof(Member, calls_done);
        break;
      case 3: at = block(rank) + layout_.cells + index % shape_.calls_ahead * sizeof(Cell), room = 24; break;
      case 4: at = mailbox(rank, self_) + index % shape_.letters * sizeof(Letter), room = 56; break;
      case 5: at = mailbox(rank, self_) + shape_.letters * sizeof(Letter), room = 16; break;  // those it has taken
      default: at = newest_letter(rank) + 16, room = 32; break;
    }
    at += offset * width % room;
    const std::uint64_t huge[] = {~std::uint64_t{0}, std::uint64_t{1} << 63, 0xffffffffu, std::uint64_t{1} << 44};
    const auto kind = input_.number(1);
    std::uint64_t value = 0;
    std::memcpy(&value, at, width);
    switch (kind % 5) {
      case 0: value += kind / 5; break;
      case 1: value = kind / 5; break;
      case 2: value = huge[kind / 5 % 4]; break;
      case 3: value ^= std::uint64_t{1} << kind / 5; break;
      default: value = input_.number(8); break;
    }
    std::memcpy(at, &value, width);
  }

  Input& input_;
  char* segment_;
  const GroupShape shape_;
  const BlockLayout layout_;
  const std::uint32_t self_;
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  Input input(data, size);
  const auto who = input.number(1), how = input.number(1), calls = input.number(4);
  GroupShape shape = shape_for(2 + static_cast<std::uint32_t>(who % 3), how % 2 ? 400'000 : 4'000'000);
  if (shape.letters == 0) return 0;
  const auto self = static_cast<std::uint32_t>(who / 4 % shape.ranks);
  Selection selection;
  selection.pair = how & 2;
  selection.single_copy = how & 4;
  selection.bcast_single_copy_ranks = 4;
  if (how & 8)
    selection.barrier_tree_ranks = selection.bcast_tree_ranks = selection.reduce_tree_ranks =
        selection.allreduce_tree_ranks = 2;
  if (how & 16) selection.allreduce_chain_bytes = selection.reduce_chain_bytes = 0;
  const Segment segment(segment_bytes(shape));
  Peers peers(input, segment.base(), shape, self);
  Options options;
  options.waiting = Waiting::yield;
  options.selection = &selection;
  options.host = {[](void* context) { return static_cast<Peers*>(context)->step(); }, &peers};
  Group group;
  if (group.join(segment.base(), shape, self, options) != millrace::Status::ok) return 0;
  peers.join_all();
  if (group.start() != Result::ok) return 0;
  for (std::uint64_t call = 0; call < 8 && group.broken() == Result::ok; ++call)
    if (const std::string wrong = test::call_anything(group, calls + call); !wrong.empty()) {
      std::fprintf(stderr, "%s\n", wrong.c_str());
      std::abort();
    }
  return 0;
}
