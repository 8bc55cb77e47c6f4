#include "shim/node/node_accord.h"

#include <sched.h>

#include <ctime>
#include <new>

#include "base/clock.h"
#include "shim/host/host_progress.h"

namespace millrace::shim {
namespace {

constexpr std::uint64_t least_spare_groups = 4;  // so much more memory must be there than the ranks would share

void pass_time(void*, std::uint32_t round) {
  drive_host(nullptr);
  if (round < 200) {
    sched_yield();
  } else {
    const timespec pause{0, 50'000};
    nanosleep(&pause, nullptr);
  }
}

}  // namespace

bool NodeAccord::prepare(void* self) {
  auto& accord = *static_cast<NodeAccord*>(self);
  if (!accord.group_)
    accord.group_ = NodeGroup::join(accord.board_, accord.record_.memory.load(std::memory_order_relaxed), accord.rank_,
                                    accord.ranks_);
  return accord.group_ != nullptr;
}

bool NodeAccord::join_memory() { return find_memory(this) != 0 && prepare(this); }

std::uint32_t NodeAccord::find_memory(void* self) {
  auto& accord = *static_cast<NodeAccord*>(self);
  std::atomic<std::uint32_t>& memory = accord.record_.memory;
  // Not always under the lock, nor after a proposal (join_memory()). Partner: the release below.
  if (const std::uint32_t found = memory.load(std::memory_order_acquire)) return found;
  const std::size_t bytes = NodeGroup::region_bytes(accord.board_, accord.ranks_);
  std::uint64_t available = 0;
  try {
    available = accord.board_.available_memory_bytes();
  } catch (...) {
  }
  accord.lacks_memory_ = bytes == 0 || available < least_spare_groups * bytes;
  if (accord.lacks_memory_ || !accord.board_.lock()) return 0;
  std::uint32_t number = memory.load(std::memory_order_relaxed);
  if (number == 0) {
    number = accord.board_.allocate(bytes);
    if (number != 0) memory.store(number, std::memory_order_release);  // what the board says of the region is there
  }
  accord.board_.unlock();
  accord.lacks_memory_ = number == 0;
  return number;
}

char* NodeAccord::find_arrivals(std::size_t bytes) {
  if (!board_.lock()) return nullptr;
  std::uint32_t number = record_.arrivals.load(std::memory_order_relaxed);  // all accesses have the lock
  if (number == 0) {
    number = board_.allocate(bytes);
    if (number != 0 && board_.reserve(number, 0, bytes) != Status::ok) {
      board_.release(number);
      number = 0;
    }
    record_.arrivals.store(number, std::memory_order_relaxed);
  }
  board_.unlock();
  return board_.region(number, bytes);
}

std::unique_ptr<NodeAccord> NodeAccord::join(node::Board& board, const node::Identity& identity, std::uint32_t rank,
                                             std::uint32_t ranks, std::uint64_t calls, std::uint64_t history) noexcept {
  if (!board.lock()) return nullptr;
  const std::uint32_t number = board.find_record(identity, ranks);
  char* const base = board.region(number, node::record_bytes(ranks));
  board.unlock();
  if (!base) return nullptr;
  auto& record = *reinterpret_cast<node::AgreementRecord*>(base);
  std::unique_ptr<NodeAccord> made(new (std::nothrow) NodeAccord(board, number, record, rank, ranks));
  if (!made) return nullptr;
  node::AgreementUser user;
  user.prepare = prepare;
  user.find_memory = find_memory;
  user.pass_time = pass_time;
  user.now_ns = monotonic_ns;
  user.lock = [](void* self) { return static_cast<NodeAccord*>(self)->board_.lock(); };
  user.unlock = [](void* self) { static_cast<NodeAccord*>(self)->board_.unlock(); };
  user.user = made.get();
  made->agreement_.emplace(made->record_, rank, ranks, user, calls, history);
  return made;
}

NodeAccord::~NodeAccord() {
  group_.reset();
  if (!agreement_ || !agreement_->end() || !board_.lock()) return;
  for (const std::atomic<std::uint32_t>* memory : {&record_.memory, &record_.arrivals})
    if (const std::uint32_t number = memory->load(std::memory_order_relaxed)) board_.release(number);
  board_.release(number_);
  board_.unlock();
}

}  // namespace millrace::shim
