#include "node/arrivals.h"

namespace millrace::node {
namespace {

constexpr int time_bits = 48;
constexpr std::uint64_t time_mask = (std::uint64_t{1} << time_bits) - 1;

}  // namespace

std::size_t Arrivals::bytes(std::uint32_t ranks) { return std::size_t{ranks} * sizeof(Row); }

Arrivals::Arrivals(char* memory, std::uint32_t rank, std::uint32_t ranks)
    : rows_(reinterpret_cast<Row*>(memory)), rank_(rank), ranks_(ranks) {
  rows_[rank].is_present.store(1, std::memory_order_relaxed);  // seen by who sees a stamp; partner: look()
}

void Arrivals::come(std::uint64_t call, std::uint64_t now_ns) {
  call_ = call;
  entry_ns_ = now_ns;
  const std::uint64_t lap = (call / most_stamps + 1) & 0xffff;
  // Partner: look(). Release, so that who sees it sees that this rank is present.
  rows_[rank_].stamps[call % most_stamps].store(lap << time_bits | (now_ns & time_mask), std::memory_order_release);
}

Arrivals::Seen Arrivals::look(std::uint32_t rank, std::int64_t& ahead_ns) const {
  const Row& row = rows_[rank];
  const std::uint64_t word = row.stamps[call_ % most_stamps].load(std::memory_order_acquire);  // partner: come()
  const std::uint64_t lap = call_ / most_stamps + 1;
  const auto laps_ahead = static_cast<std::int16_t>(static_cast<std::uint16_t>((word >> time_bits) - lap));
  if (word == 0 || laps_ahead < 0)
    return row.is_present.load(std::memory_order_relaxed) != 0 ? Seen::not_yet : Seen::not_known;
  if (laps_ahead > 0) return Seen::not_known;
  constexpr int unused_bits = 64 - time_bits;
  const std::uint64_t difference = (entry_ns_ - word) << unused_bits;  // modulo 2^48, with its sign
  ahead_ns = static_cast<std::int64_t>(difference) >> unused_bits;
  return Seen::here;
}

// For the last of a range of ranks. `is_last`: this rank itself came last of them.
Meeting Arrivals::wait_among(std::uint32_t first, std::uint32_t end, bool& is_last) const {
  Meeting meeting{.is_known = true, .last_rank = rank_};
  is_last = true;
  for (std::uint32_t rank = first; rank < end; ++rank) {
    if (rank == rank_) continue;
    std::int64_t ahead_ns = 0;
    const Seen seen = look(rank, ahead_ns);
    if (seen == Seen::not_known) return {};
    // Who is not there was not waited for, whatever the call is meant to do.
    if (seen == Seen::not_yet) {
      is_last = false;
      continue;
    }
    // Of ranks that came at the same moment the lowest is the last.
    if (ahead_ns < 0 || (ahead_ns == 0 && rank < rank_)) is_last = false;
    if (ahead_ns < 0 && static_cast<std::uint64_t>(-ahead_ns) > meeting.wait_ns) {
      meeting.wait_ns = static_cast<std::uint64_t>(-ahead_ns);
      meeting.last_rank = rank;
    }
  }
  return meeting;
}

bool Arrivals::somebody_came_before(std::uint32_t first) const {
  std::int64_t ahead_ns = 0;
  for (std::uint32_t rank = first; rank < ranks_; ++rank)
    if (rank != rank_ && look(rank, ahead_ns) == Seen::here && ahead_ns > 0) return true;
  return false;
}

Meeting Arrivals::leave(WaitsFor waits, std::uint32_t root) const {
  if (root >= ranks_) return {};
  bool is_last = false;
  Meeting meeting;
  switch (waits) {
    case WaitsFor::all:
      meeting = wait_among(0, ranks_, is_last);
      meeting.is_late = meeting.is_known && is_last && ranks_ > 1;
      return meeting;
    case WaitsFor::root:
      if (rank_ != root) return wait_among(root, root + 1, is_last);
      return {.is_known = true, .is_late = somebody_came_before(0), .last_rank = rank_};
    case WaitsFor::root_for_all:
      if (rank_ == root) return wait_among(0, ranks_, is_last);
      return {.is_known = true, .last_rank = rank_};
    case WaitsFor::lower_ranks:
      meeting = wait_among(0, rank_, is_last);
      meeting.is_late = meeting.is_known && is_last && somebody_came_before(rank_ + 1);
      return meeting;
  }
  return {};
}

}  // namespace millrace::node
