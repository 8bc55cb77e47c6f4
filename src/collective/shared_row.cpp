#include "collective/shared_row.h"

#include <sched.h>

#include <algorithm>

#include "base/hash.h"

namespace millrace::collective {
namespace {

// Of SharedRow::parts and ::written: serial << 24 | high << 12 | low.
constexpr std::uint64_t most_parts = 2048, field = 0xfff;
constexpr std::size_t least_part_bytes = 16 << 10, most_bytes_at_once = 1 << 20;

struct Word {
  std::uint64_t serial, high, low;
};
constexpr std::uint64_t join(const Word& word) { return word.serial << 24 | word.high << 12 | word.low; }
constexpr Word split(std::uint64_t word) { return {word >> 24, word >> 12 & field, word & field}; }

// Whole pages, but for the last part.
std::size_t part_bytes_of(std::size_t bytes) {
  const std::size_t pages = (bytes / most_parts + page_bytes) / page_bytes;
  return std::max(least_part_bytes, pages * page_bytes);
}

// Much at first and less towards the end, so that both end at about the same time. Each copy is a call of the kernel,
// of one to two microseconds: a quarter of what is left at a time took 256 KiB 1.2 to 1.5 times as long.
std::uint64_t parts_at_once(std::uint64_t left, std::size_t part_bytes) {
  return std::clamp<std::uint64_t>(left / 2, 1, std::max<std::size_t>(1, most_bytes_at_once / part_bytes));
}

// Of what the owner is told: where it may write is not believed to anybody who scribbles.
std::uint64_t check_of(std::uint64_t serial, std::uint64_t address, std::uint64_t bytes) {
  return spread(spread(serial ^ 0x6d696c6c) ^ address) ^ spread(bytes);
}

}  // namespace

void RowReading::open(Group& group, std::uint32_t owner, std::uint64_t serial, void* to, std::size_t bytes) {
  SharedRow& row = group.shared_row(owner, group.rank());
  *this = RowReading{};
  serial_ = serial;
  bytes_ = bytes;
  part_bytes_ = part_bytes_of(bytes);
  end_ = (bytes + part_bytes_ - 1) / part_bytes_;
  row.address = static_cast<std::uint64_t>(reinterpret_cast<std::uintptr_t>(to));
  row.bytes = bytes;
  row.check = check_of(serial, row.address, bytes);
  row.parts.store(join({serial, 0, end_}), std::memory_order_release);  // partner: RowWriting::help()
}

RowReading::Part RowReading::take(Group& group, std::uint32_t owner) {
  std::atomic<std::uint64_t>& parts = group.shared_row(owner, group.rank()).parts;
  std::uint64_t seen = parts.load(std::memory_order_relaxed);
  for (;;) {
    const Word word = split(seen);
    // Only this rank moves the front, and the end only comes nearer: else somebody has scribbled.
    if (word.serial != serial_ || word.high != read_parts_ || word.low > end_ || word.low <= read_parts_) {
      end_ = std::clamp<std::uint64_t>(word.low, read_parts_, end_);
      return {};
    }
    const std::uint64_t count = parts_at_once(word.low - word.high, part_bytes_);
    // Partner: the same of the owner; only the word itself matters.
    if (!parts.compare_exchange_weak(seen, join({serial_, word.high + count, word.low}), std::memory_order_relaxed))
      continue;
    const std::size_t first = read_parts_ * part_bytes_;
    read_parts_ += count;
    end_ = word.low;
    return {first, std::min(count * part_bytes_, bytes_ - first)};
  }
}

RowReading::Rest RowReading::rest(Group& group, std::uint32_t owner) const {
  const std::uint64_t count = (bytes_ + part_bytes_ - 1) / part_bytes_, taken = count - end_;
  if (taken == 0) return Rest::written;
  // Partner: release in RowWriting::help(): what is counted is there.
  const Word word = split(group.shared_row(owner, group.rank()).written.load(std::memory_order_seq_cst));
  if (word.serial != serial_) return Rest::under_way;
  if (word.high != 0) return Rest::failed;
  return word.low >= taken ? Rest::written : Rest::under_way;
}

void RowReading::close(Group& group, std::uint32_t owner) {
  if (!is_open()) return;
  SharedRow& row = group.shared_row(owner, group.rank());
  std::uint64_t seen = row.parts.load(std::memory_order_relaxed);
  const auto closed = [&] { return split(seen).serial != serial_ || split(seen).low <= split(seen).high; };
  while (!closed() && !row.parts.compare_exchange_weak(seen, join({serial_, split(seen).low, split(seen).low}),
                                                       std::memory_order_relaxed)) {
  }
  end_ = std::min<std::uint64_t>(end_, split(seen).low);
  while (rest(group, owner) == Rest::under_way && group.maybe_alive(owner)) sched_yield();
  serial_ = 0;
}

bool RowWriting::help(Group& group, std::uint32_t reader) {
  if (serial_ == 0 || group.shape().letters == 0) return false;  // without mailboxes there is no place for it
  SharedRow& row = group.shared_row(group.rank(), reader);
  std::uint64_t seen = row.parts.load(std::memory_order_acquire);  // partner: RowReading::open()
  const Word word = split(seen);
  if (word.serial != serial_ || word.high >= word.low) return false;
  const std::uint64_t address = shared_memory::read_once(row.address), bytes = shared_memory::read_once(row.bytes);
  const std::size_t part_bytes = part_bytes_of(std::min<std::uint64_t>(bytes, bytes_));
  const bool sound = bytes <= bytes_ && shared_memory::read_once(row.check) == check_of(serial_, address, bytes) &&
                     (word.low - 1) * part_bytes < bytes && (written_ != 0 || group.is_there(reader));
  if (!sound) {
    serial_ = 0;
    return false;
  }
  const std::uint64_t count = parts_at_once(word.low - word.high, part_bytes), first = word.low - count;
  // Partner: the same of the reader, which has given the memory before.
  if (!row.parts.compare_exchange_strong(seen, join({serial_, word.high, first}), std::memory_order_relaxed))
    return true;
  const std::size_t begin = first * part_bytes, length = std::min(count * part_bytes, bytes - begin);
  const bool done = group.write_to(reader, address + begin, row_ + begin, length);
  written_ += count;
  // Partner: RowReading::rest().
  group.publish_to(reader, row.written, join({serial_, done ? 0u : 1u, written_}));
  if (!done) serial_ = 0;
  return true;
}

Result read_shared(Group& group, std::uint32_t owner, std::uint64_t serial, std::uint64_t address, void* to,
                   std::size_t bytes) {
  char* const base = static_cast<char*>(to);
  std::size_t first = 0;
  if (group.shares_rows(bytes)) {
    RowReading reading;
    reading.open(group, owner, serial, to, bytes);
    Result result = Result::ok;
    for (RowReading::Part part = reading.take(group, owner); part.length != 0 && result == Result::ok;
         part = result == Result::ok ? reading.take(group, owner) : RowReading::Part{}) {
      result = group.read_from(owner, address + part.first, base + part.first, part.length);
      first = part.first + part.length;
    }
    if (result == Result::ok)
      result = group.advance({&group.shared_row(owner, group.rank()).written, ~std::uint64_t{0}}, [&] {
        return reading.rest(group, owner) == RowReading::Rest::under_way ? Group::Step::nothing : Group::Step::done;
      });
    const RowReading::Rest rest = reading.rest(group, owner);
    reading.close(group, owner);
    if (result != Result::ok || rest == RowReading::Rest::written) return result;
  }
  return group.read_from(owner, address + first, base + first, bytes - first);
}

}  // namespace millrace::collective
