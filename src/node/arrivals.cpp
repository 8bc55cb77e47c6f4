#include "node/arrivals.h"

namespace millrace::node {
namespace {

constexpr std::uint64_t stamps_a_line = 8;
constexpr int time_bits = 48;
constexpr std::uint64_t time_mask = (std::uint64_t{1} << time_bits) - 1;

// Of a difference modulo 2^48.
std::int64_t signed_ticks(std::uint64_t difference) {
  constexpr int unused_bits = 64 - time_bits;
  return static_cast<std::int64_t>(difference << unused_bits) >> unused_bits;
}

}  // namespace

std::size_t Arrivals::bytes(std::uint32_t ranks) { return std::size_t{ranks} * sizeof(Row); }

Arrivals::Arrivals(char* memory, std::uint32_t rank, std::uint32_t ranks)
    : rows_(reinterpret_cast<Row*>(memory)), rank_(rank), ranks_(ranks) {
  rows_[rank].is_present.store(1, std::memory_order_relaxed);  // seen by who sees a stamp; partner: look()
}

void Arrivals::come(std::uint64_t call, std::uint64_t now_ticks) {
  // The other ranks have the next line since the last lap. What this one writes after the stamp, that it has come to
  // the call among it, becomes visible after it: so the line is asked for in time.
  if (call % stamps_a_line == 0) __builtin_prefetch(&rows_[rank_].stamps[(call + stamps_a_line) % most_stamps], 1);
  const std::uint64_t lap = (call / most_stamps + 1) & 0xffff;
  // Partner: look(). Release, so that who sees it sees that this rank is present.
  rows_[rank_].stamps[call % most_stamps].store(lap << time_bits | (now_ticks & time_mask), std::memory_order_release);
}

Arrivals::Seen Arrivals::look(const Visit& visit, std::uint32_t rank, std::int64_t& ahead_ticks) const {
  const Row& row = rows_[rank];
  const std::uint64_t word = row.stamps[visit.call % most_stamps].load(std::memory_order_acquire);  // partner: come()
  const std::uint64_t lap = visit.call / most_stamps + 1;
  const auto laps_ahead = static_cast<std::int16_t>(static_cast<std::uint16_t>((word >> time_bits) - lap));
  if (word == 0 || laps_ahead < 0)
    return row.is_present.load(std::memory_order_relaxed) != 0 ? Seen::not_yet : Seen::not_known;
  if (laps_ahead > 0) return Seen::not_known;
  ahead_ticks = signed_ticks(visit.came_ticks - word);
  return signed_ticks(visit.left_ticks - word) < 0 ? Seen::not_yet : Seen::here;
}

// For the last of a range of ranks.
Meeting Arrivals::wait_among(const Visit& visit, std::uint32_t first, std::uint32_t end) const {
  Meeting meeting{.is_known = true, .last_rank = rank_};
  for (std::uint32_t rank = first; rank < end; ++rank) {
    if (rank == rank_) continue;
    std::int64_t ahead_ticks = 0;
    const Seen seen = look(visit, rank, ahead_ticks);
    if (seen == Seen::not_known) return {};
    // Who is not there was not waited for, whatever the call is meant to do.
    if (seen == Seen::not_yet || ahead_ticks >= 0) continue;
    const auto wait_ticks = static_cast<std::uint64_t>(-ahead_ticks);
    if (wait_ticks <= meeting.wait_ticks) continue;
    meeting.wait_ticks = wait_ticks;
    meeting.last_rank = rank;
  }
  return meeting;
}

// Of ranks that came at the same moment the lowest is the first.
bool Arrivals::came_first(const Visit& visit, std::uint32_t first, std::uint32_t last_rank) const {
  std::int64_t ahead_ticks = 0;
  for (std::uint32_t rank = first; rank < ranks_; ++rank)
    if (rank != rank_ && rank != last_rank && look(visit, rank, ahead_ticks) == Seen::here &&
        (ahead_ticks > 0 || (ahead_ticks == 0 && rank < rank_)))
      return false;
  return true;
}

Meeting Arrivals::meeting(const Visit& visit) const {
  const std::uint32_t root = visit.root;
  if (root >= ranks_) return {};
  Meeting meeting{.is_known = true, .last_rank = rank_};
  switch (visit.waits) {
    case WaitsFor::all: meeting = wait_among(visit, 0, ranks_); break;
    case WaitsFor::root:
      if (rank_ != root) meeting = wait_among(visit, root, root + 1);
      break;
    case WaitsFor::root_for_all:
      if (rank_ == root) meeting = wait_among(visit, 0, ranks_);
      break;
    case WaitsFor::lower_ranks: meeting = wait_among(visit, 0, rank_); break;
  }
  if (meeting.wait_ticks == 0) return meeting;
  const std::uint32_t first_waiting = visit.waits == WaitsFor::lower_ranks ? meeting.last_rank + 1 : 0;
  meeting.is_first = visit.waits == WaitsFor::root_for_all || came_first(visit, first_waiting, meeting.last_rank);
  return meeting;
}

}  // namespace millrace::node
