#include "node/board_reports.h"

#include <cstring>

namespace millrace::node {
namespace {

// With the lock held.
bool put(Board& board, std::span<const std::byte> part) {
  const std::uint32_t region = board.allocate(part.size());
  if (region == 0) return false;
  if (board.reserve(region, 0, part.size()) != Status::ok) {
    board.release(region);
    return false;
  }
  std::memcpy(board.region(region, part.size()), part.data(), part.size());
  BoardMember& own = board.member(board.rank());
  own.record_bytes = part.size();
  own.record.store(region, std::memory_order_release);  // partner: collect()
  return true;
}

std::vector<std::vector<std::byte>> collect(const Board& board) {
  std::vector<std::vector<std::byte>> parts;
  const auto self = shared_memory::own_identity();
  for (std::uint32_t rank = 0; rank < board.world_ranks(); ++rank) {
    const BoardMember& member = board.member(rank);
    if (member.here.load(std::memory_order_acquire) == 0 || member.reports.load(std::memory_order_relaxed) == 0) continue;
    const std::uint32_t region = member.record.load(std::memory_order_acquire);  // partner: put()
    if (region == 0) {
      if (board.is_here(rank) && shared_memory::maybe_alive(member.process, self)) return {};
      continue;
    }
    const std::size_t bytes = member.record_bytes;
    const char* const at = board.region(region, bytes);
    if (!at) continue;
    const auto* first = reinterpret_cast<const std::byte*>(at);
    parts.emplace_back(first, first + bytes);
  }
  return parts;
}

}  // namespace

std::vector<std::vector<std::byte>> leave_report(Board& board, std::span<const std::byte> part, bool& left) {
  left = false;
  if (part.empty() || !board.lock()) return {};
  std::vector<std::vector<std::byte>> parts;
  try {
    left = put(board, part);
    if (left) parts = collect(board);
  } catch (...) {
    board.unlock();
    throw;
  }
  board.unlock();
  return parts;
}

}  // namespace millrace::node
