#include "node/board_reports.h"

#include <cstring>

#include "shared_memory/read_once.h"

namespace millrace::node {
namespace {

// Of one rank. Parts take some ten KiB; what says that it is larger than this was scribbled on.
constexpr std::size_t most_part_bytes = std::size_t{4} << 20;

// With the lock held.
bool put(Board& board, std::span<const std::byte> part) {
  const std::uint32_t region = board.allocate(part.size());
  if (region == 0) return false;
  char* const at = board.region(region, part.size());
  if (!at || board.reserve(region, 0, part.size()) != Status::ok) {
    board.release(region);
    return false;
  }
  std::memcpy(at, part.data(), part.size());
  BoardMember& own = board.member(board.rank());
  own.record_bytes = part.size();
  own.record.store(region, std::memory_order_release);  // partner: collect()
  return true;
}

// `waits`: with none if one is still to be expected.
std::vector<std::vector<std::byte>> collect(const Board& board, bool waits) {
  std::vector<std::vector<std::byte>> parts;
  const auto self = shared_memory::own_identity();
  for (std::uint32_t rank = 0; rank < board.world_ranks(); ++rank) {
    const BoardMember& member = board.member(rank);
    if (member.here.load(std::memory_order_acquire) == 0 || member.reports.load(std::memory_order_relaxed) == 0)
      continue;
    const std::uint32_t region = member.record.load(std::memory_order_acquire);  // partner: put()
    if (region == 0) {
      if (waits && board.is_here(rank) && shared_memory::maybe_alive(member.process, self)) return {};
      continue;
    }
    const std::size_t bytes = shared_memory::read_once(member.record_bytes);
    const char* const at = bytes <= most_part_bytes ? board.region(region, bytes) : nullptr;
    if (!at) continue;
    const auto* first = reinterpret_cast<const std::byte*>(at);
    parts.emplace_back(first, first + bytes);
  }
  return parts;
}

}  // namespace

std::vector<std::vector<std::byte>> leave_report(Board& board, std::span<const std::byte> part, bool& left) {
  left = false;
  if (part.empty() || part.size() > most_part_bytes || !board.lock()) return {};
  std::vector<std::vector<std::byte>> parts;
  try {
    left = put(board, part);
    if (left) parts = collect(board, true);
    if (!parts.empty()) board.are_parts_taken().store(1, std::memory_order_relaxed);
  } catch (...) {
    board.unlock();
    throw;
  }
  board.unlock();
  return parts;
}

bool claim_early_report(Board& board) {
  if (!board.lock()) return true;
  const bool is_first = board.has_early_report().exchange(1, std::memory_order_relaxed) == 0;
  board.unlock();
  return is_first;
}

bool are_parts_taken(const Board& board) { return board.are_parts_taken().load(std::memory_order_relaxed) != 0; }

std::vector<std::vector<std::byte>> take_parts(Board& board) {
  if (are_parts_taken(board) || !board.lock()) return {};
  std::vector<std::vector<std::byte>> parts;
  try {
    if (board.are_parts_taken().exchange(1, std::memory_order_relaxed) == 0) parts = collect(board, false);
  } catch (...) {
    board.unlock();
    throw;
  }
  board.unlock();
  return parts;
}

}  // namespace millrace::node
