#include "scribble.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <vector>

#include "collective/collective.h"
#include "collective/exchange.h"
#include "guarded.h"
#include "operations.h"

namespace millrace::collective::test {
namespace {

constexpr std::size_t sizes[] = {0, 1, 8, 12, 13, 32, 96, 97, 112, 113, 200, 4096, 4097, 33000, 70000, 300000};

// Buffers of one call, and ends of messages in them.
class Buffers {
 public:
  Guarded& make(std::size_t bytes) { return all_.emplace_back(bytes); }
  // One end of a message: in a row, or through a function that may only be asked for what there is.
  Data data(std::size_t bytes, bool row) {
    Guarded& made = make(bytes);
    std::memset(made.data(), 'd', bytes);
    if (row) return {bytes, made.data(), nullptr, nullptr};
    return {bytes, nullptr, move, &made};
  }
  std::string check() const {
    for (const Guarded& each : all_)
      if (!each.intact()) return fmt::format("written before a buffer of {} bytes", each.bytes());
    return "";
  }

 private:
  // Touches what a layout would read or write, whichever way the bytes go.
  static void move(void* context, std::size_t first, std::size_t length, void* packed) {
    const auto& buffer = *static_cast<Guarded*>(context);
    if (first > buffer.bytes() || length > buffer.bytes() - first) std::abort();
    volatile char* const at = static_cast<volatile char*>(packed);
    for (std::size_t byte = 0; byte < length; ++byte) buffer.data()[first + byte] = at[byte];
  }

  std::deque<Guarded> all_;
};

class Caller {
 public:
  Caller(Group& group, std::uint64_t number) : group_(group), random_(number * 0x9e3779b97f4a7c15u + 1) {}

  std::string call() {
    switch (pick(11)) {
      case 0: barrier(group_); break;
      case 9: call_reduce_scatter(); break;
      case 10: call_scan(); break;
      case 1:
      case 2: call_bcast(); break;
      case 3: call_reduction(true); break;
      case 4: call_reduction(false); break;
      case 5: call_publish(); break;
      case 6: call_blocks(); break;
      default: call_exchange(); break;
    }
    return buffers_.check();
  }

 private:
  std::uint64_t pick(std::uint64_t below) { return random_() % below; }
  std::size_t any_size() { return sizes[pick(std::size(sizes))]; }
  // Less than comes, on some rank.
  std::size_t expected(std::size_t bytes, std::uint32_t rank) {
    const std::uint64_t kind = pick(8), odd = pick(group_.ranks());
    return kind == 0 && odd == rank ? bytes / 2 : bytes;
  }

  void call_bcast() {
    const std::size_t bytes = any_size();
    const auto root = static_cast<std::uint32_t>(pick(group_.ranks()));
    // Where other bytes mean another algorithm that is an error.
    const std::size_t own =
        bytes > 140'000 && group_.selection().bcast_tree_ranks > 4 ? expected(bytes, group_.rank()) : bytes;
    bcast(group_, buffers_.make(own).data(), own, root);
  }

  void call_reduction(bool to_all) {
    const auto known = operations();
    const Operation& operation = known[pick(known.size())];
    const std::size_t elements = any_size() / operation.element_bytes, bytes = elements * operation.element_bytes;
    const auto root = static_cast<std::uint32_t>(pick(group_.ranks()));
    const Guarded& in = buffers_.make(bytes);
    const Guarded& out = pick(3) == 0 ? in : buffers_.make(bytes);
    if (to_all)
      allreduce(group_, in.data(), out.data(), elements, operation.reducer);
    else
      reduce(group_, in.data(), out.data(), elements, operation.reducer, root);
  }

  void call_reduce_scatter() {
    const Operation& operation = operations()[pick(operations().size())];
    std::vector<std::size_t> counts, begins(group_.ranks());
    for (std::uint32_t rank = 0; rank < group_.ranks(); ++rank)
      counts.push_back(any_size() / operation.element_bytes / group_.ranks());
    const Blocking blocks(counts, begins);
    const Guarded& in = buffers_.make(blocks.elements() * operation.element_bytes);
    const Guarded& out = buffers_.make(counts[group_.rank()] * operation.element_bytes);
    reduce_scatter(group_, in.data(), out.data(), blocks, operation.reducer);
  }

  void call_scan() {
    const Operation& operation = operations()[pick(operations().size())];
    const std::size_t elements = any_size() / operation.element_bytes, bytes = elements * operation.element_bytes;
    const Guarded& in = buffers_.make(bytes);
    const Guarded& out = pick(3) == 0 ? in : buffers_.make(bytes);
    if (pick(2) == 0)
      scan(group_, in.data(), out.data(), elements, operation.reducer);
    else
      exscan(group_, in.data(), out.data(), elements, operation.reducer);
  }

  void call_publish() {
    std::vector<Data> receives;
    std::size_t own = 0;
    for (std::uint32_t rank = 0; rank < group_.ranks(); ++rank) {
      const std::size_t bytes = any_size(), room = expected(bytes, group_.rank());
      if (rank == group_.rank()) own = bytes;
      receives.push_back(buffers_.data(room, pick(2) == 0));
    }
    const Data sent = buffers_.data(own, pick(3) != 0);
    publish(group_, Kind::allgather, 1, sent, receives);
  }

  void call_blocks() {
    const Kind kinds[] = {Kind::gather, Kind::scatter, Kind::allgather, Kind::alltoall};
    const Kind kind = kinds[pick(4)];
    const std::size_t bytes = 1 + any_size() % 2000, room = expected(bytes, group_.rank());
    const auto root = static_cast<std::uint32_t>(pick(group_.ranks()));
    if (!exchanges_blocks(group_, kind, bytes)) return;
    const bool at_root = group_.rank() == root, has_one = kind == Kind::allgather || kind == Kind::gather;
    const std::uint32_t sends = has_one ? 1 : kind == Kind::scatter && !at_root ? 0 : group_.ranks();
    const std::uint32_t receives = kind == Kind::scatter ? 1 : kind == Kind::gather && !at_root ? 0 : group_.ranks();
    std::vector<Data> sent, received;
    for (std::uint32_t rank = 0; rank < group_.ranks(); ++rank) {
      const bool sent_row = pick(3) != 0, received_row = pick(2) == 0;  // drawn alike on all ranks
      if (rank < sends) sent.push_back(buffers_.data(bytes, sent_row));
      if (rank < receives) received.push_back(buffers_.data(room, received_row));
    }
    exchange_blocks(group_, kind, bytes, sent, received, root);
  }

  void call_exchange() {
    std::vector<Message> sends, receives;
    for (std::uint32_t from = 0; from < group_.ranks(); ++from)
      for (std::uint32_t to = 0; to < group_.ranks(); ++to)
        for (std::uint64_t messages = pick(3); messages != 0; --messages) {
          const std::size_t bytes = any_size(), room = expected(bytes, to);
          const bool row = pick(2) == 0;
          if (from == group_.rank()) sends.push_back({to, buffers_.data(bytes, row)});
          if (to == group_.rank()) receives.push_back({from, buffers_.data(room, row)});
        }
    const Kind kinds[] = {Kind::alltoall, Kind::gather, Kind::scatter};
    exchange(group_, kinds[pick(3)], 1, sends, receives);
  }

  Group& group_;
  std::mt19937_64 random_;
  Buffers buffers_;
};

}  // namespace

Scribbler::Scribbler(char* segment, const GroupShape& shape, std::uint64_t seed)
    : segment_(segment), shape_(shape), engine_(seed), places_(random(4) == 0 ? ~std::uint64_t{0} : 1 + random(255)) {}

std::size_t Scribbler::somewhere() {
  const BlockLayout layout = block_layout(shape_);
  const std::size_t block = page_bytes + random(shape_.ranks) * layout.bytes;
  const std::size_t mailbox = block + layout.mailboxes + random(shape_.ranks) * layout.mailbox_stride;
  const auto letter = [&] { return mailbox + random(shape_.letters) * sizeof(Letter); };
  const auto cell = [&] { return block + layout.cells + random(shape_.calls_ahead) * sizeof(Cell); };
  std::uint64_t place = random(8);
  while ((places_ >> place & 1) == 0) place = (place + 1) % 8;
  switch (place) {
    case 0: return random(8) == 0 ? random(sizeof(Head)) : offsetof(Head, asleep) + random(sizeof(Head::asleep));
    case 1: return block + random(layout.bytes);
    case 2: return block + random(sizeof(Member));
    case 3:  // the flags, and what a rank sleeps on
      return block + offsetof(Member, calls_done) + random(sizeof(Member) - offsetof(Member, calls_done));
    case 4: return cell() + random(24);
    case 5: return cell() + offsetof(Cell, label);
    case 6: return letter() + offsetof(Letter, bytes) + random(sizeof(Letter) - offsetof(Letter, bytes)) % 32;
    default: break;
  }
  switch (random(6)) {
    case 0: return mailbox + random(layout.mailbox_stride);
    case 1: return mailbox + layout.mailbox_stride - sizeof(SharedRow) + random(72);
    default: return letter() + random(56);
  }
}

void Scribbler::once() {
  const std::size_t end = segment_bytes(shape_), widths[] = {8, 8, 8, 4, 4, 1};
  const std::size_t width = widths[random(6)];
  const std::size_t at = std::min(somewhere(), end - 8) / width * width;
  std::uint64_t value = 0;
  std::memcpy(&value, segment_ + at, width);
  const std::uint64_t huge[] = {~std::uint64_t{0}, std::uint64_t{1} << 63, 0xffffffffu,
                                0x80000000u,       std::uint64_t{1} << 40, (std::uint64_t{1} << 63) + 1};
  switch (random(8)) {
    case 0:
    case 1: value ^= std::uint64_t{1} << random(width * 8); break;
    case 2: value += 1 + random(3); break;
    case 3: value -= 1 + random(3); break;
    case 4: value = random(300); break;
    case 5: value = huge[random(std::size(huge))]; break;
    case 6: std::memcpy(&value, segment_ + std::min(somewhere(), end - 8) / 8 * 8, 8); break;
    default: value = engine_(); break;
  }
  std::memcpy(segment_ + at, &value, width);
}

std::string call_anything(Group& group, std::uint64_t number) { return Caller(group, number).call(); }

}  // namespace millrace::collective::test
