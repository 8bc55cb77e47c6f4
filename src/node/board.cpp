#include "node/board.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <memory>
#include <new>

#include "base/clock.h"
#include "base/hash.h"
#include "node/board_file.h"
#include "node/user_directory.h"
#include "shared_memory/futex.h"

namespace millrace::node {
namespace {

using shared_memory::maybe_alive;
using shared_memory::own_identity;

constexpr int most_tries = 16;
constexpr std::uint64_t longest_wait_for_lock_ns = 1'000'000'000, look_at_holder_every_ns = 1'000'000;

// A name for the file: 128 bits of the key. The whole key is compared as well.
std::string name_of(const std::string& key) {
  std::uint64_t first = fnv1a_start, second = golden_ratio;
  for (const char letter : key) {
    first = fnv1a(first, static_cast<unsigned char>(letter));
    second = (second ^ first) * 0xff51afd7ed558ccdu ^ second >> 31;
  }
  return fmt::format("job-{:016x}{:016x}", first, second);
}

}  // namespace

Board* Board::join(const JoinRequest& request, std::string& why_not) {
  const UserDirectory directory = open_user_directory();
  if (directory.descriptor < 0) {
    why_not = "there is no directory in memory (/dev/shm) that is this user's alone";
    return nullptr;
  }
  Board* board = join(request, directory.descriptor, why_not);
  if (!board) close(directory.descriptor);
  return board;
}

Board* Board::join(const JoinRequest& request, int directory, std::string& why_not) {
  why_not = "the memory of the job on this node cannot be made or opened";
  if (request.key.size() >= sizeof BoardHead::key || request.rank >= request.world_ranks) return nullptr;
  const std::string name = name_of(request.key);
  const auto self = own_identity();  // here, for others wait while the file is locked
  for (int tries = 0; tries < most_tries; ++tries) {
    const int file = open_user_file(directory, name, true);
    if (file < 0) return nullptr;
    struct stat found {};
    const bool usable = lock_file(file) && fstat(file, &found) == 0;
    if (!usable || found.st_nlink == 0) {
      close(file);  // gives back the lock, too
      if (!usable) return nullptr;
      continue;  // somebody has removed the name meanwhile
    }
    std::unique_ptr<Board> board(new (std::nothrow) Board);
    if (!board) {
      close(file);
      return nullptr;
    }
    board->self_ = self;
    board->directory_ = directory;
    board->name_ = name;
    const bool make = found.st_size == 0;
    Status status = board->map(file, make, request);
    const bool useless = status == Status::not_supported || (!make && board->members_ && board->is_abandoned());
    if (make && status != Status::ok) unlinkat(directory, name.c_str(), 0);
    if (useless) {
      // Left by a job that was killed, perhaps while it made it.
      unlinkat(directory, name.c_str(), 0);
      board->forget_maps();
      close(file);
      continue;
    }
    if (status == Status::ok) status = board->claim(request);
    if (status == Status::bad_argument) why_not = "another process of the job on this node has the same rank";
    if (status != Status::ok) {
      board->forget_maps();
      close(file);
      return nullptr;
    }
    if (make) remove_abandoned_files(directory, name);
    const std::uint32_t expected = request.ranks_here != 0 ? request.ranks_here : request.world_ranks;
    if (board->joined() >= expected) unlinkat(directory, name.c_str(), 0);
    if (board->in_file_) board->file_ = keep_descriptor(file);
    if (board->file_ >= 0) {
      board->file_device_ = found.st_dev;
      board->file_inode_ = found.st_ino;
    }
    flock(file, LOCK_UN);
    close(file);
    return board.release();
  }
  return nullptr;
}

shared_memory::Attention& Board::attention() const {
  return *reinterpret_cast<shared_memory::Attention*>(reinterpret_cast<char*>(head_) + attention_offset());
}

bool Board::is_of(const JoinRequest& request) const {
  return head_->magic.load(std::memory_order_acquire) == board_magic && head_->version == board_version &&
         head_->world_ranks == request.world_ranks &&
         std::strncmp(head_->key, request.key.c_str(), sizeof head_->key) == 0;
}

// With the file locked: whether nobody who joined lives.
bool Board::is_abandoned() const {
  for (std::uint32_t rank = 0; rank < world_ranks_; ++rank)
    if (is_here(rank) && maybe_alive(member(rank).process, self_)) return false;
  return true;
}

// With the file locked.
Status Board::claim(const JoinRequest& request) {
  BoardMember& own = member(request.rank);
  if (own.here.load(std::memory_order_acquire) != 0) {
    // Two jobs under one key, or a job that began again: whoever is which, nobody can tell.
    stop();
    return Status::bad_argument;
  }
  own.process = self_;
  own.digest = request.digest;
  own.processors = request.processors;
  own.reports.store(request.reports ? 1 : 0, std::memory_order_relaxed);
  own.here.store(1, std::memory_order_release);  // partner: is_here()
  head_->joined.fetch_add(1, std::memory_order_relaxed);
  rank_ = request.rank;
  return Status::ok;
}

bool Board::leave() {
  member(rank_).here.store(2, std::memory_order_release);  // partner: is_here()
  const bool last = head_->left.fetch_add(1, std::memory_order_acq_rel) + 1 == joined();
  if (last) unlinkat(directory_, name_.c_str(), 0);
  return last;
}

// Whether nobody will give the lock back: who has it has ended, or is nobody.
bool Board::holder_is_gone(std::uint32_t holder) const {
  const std::uint32_t rank = holder - 1;
  return rank >= world_ranks_ || !is_here(rank) || !maybe_alive(member(rank).process, own_identity());
}

bool Board::lock() {
  std::uint64_t until_ns = 0;
  while (!stopped()) {
    std::uint32_t holder = 0;
    // Partner: unlock().
    if (head_->lock_holder.compare_exchange_strong(holder, rank_ + 1, std::memory_order_acquire)) return true;
    const std::uint64_t now_ns = monotonic_ns();
    if (until_ns == 0) until_ns = now_ns + longest_wait_for_lock_ns;
    if (now_ns > until_ns) return false;
    // Seldom more than a moment. What one that died was changing may be half done.
    shared_memory::futex_wait(head_->lock_holder, holder, look_at_holder_every_ns);
    if (head_->lock_holder.load(std::memory_order_relaxed) == holder && holder_is_gone(holder)) stop();
  }
  return false;
}

void Board::unlock() {
  head_->lock_holder.store(0, std::memory_order_release);  // partner: lock()
  shared_memory::futex_wake(head_->lock_holder);
}

}  // namespace millrace::node
