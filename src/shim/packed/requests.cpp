#include "shim/packed/requests.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <mutex>
#include <new>
#include <utility>
#include <vector>

#include "base/hash.h"
#include "base/log.h"
#include "shim/host/bypass.h"
#include "shim/packed/status_argument.h"

namespace millrace::shim {

constinit std::atomic<int> tracked_requests{0};

namespace {

// Operations by handle: chains that stay short, however many there are.
struct alignas(64) Shard {
  std::atomic<std::size_t> size{0};  // written under the lock, read without only to see that there is none
  std::mutex mutex;
  Operation** buckets = nullptr;  // never given back; null: `first` is the only one
  std::size_t bucket_count = 1;   // a power of two
  Operation* first = nullptr;

  Operation*& bucket(Word request) {
    const std::size_t hash = spread(request) >> 20;
    return buckets ? buckets[hash & (bucket_count - 1)] : first;
  }
  void add(Operation& operation) {
    Operation*& head = bucket(operation.request);
    operation.next = head;
    head = &operation;
  }
  // Without memory chains grow longer instead.
  void grow() {
    constexpr std::size_t factor = 8;
    auto** const larger = new (std::nothrow) Operation*[bucket_count * factor]();
    if (!larger) return;
    Operation* const* const old = buckets ? buckets : &first;
    Operation* all = nullptr;
    for (std::size_t i = 0; i < bucket_count; ++i)  // without `buckets` there is one
      for (Operation* moved = old[i]; moved;) {     // NOLINT(clang-analyzer-security.ArrayBound)
        Operation* const following = std::exchange(moved->next, all);
        all = std::exchange(moved, following);
      }
    delete[] buckets;
    buckets = larger;
    bucket_count *= factor;
    while (all) {
      Operation* const following = all->next;
      add(*all);
      all = following;
    }
  }
};

constexpr std::size_t shard_count = 64;
std::array<Shard, shard_count> shards;

Shard& shard_of(Word request) { return shards[spread(request) >> 58]; }
static_assert(shard_count == std::size_t{1} << 6, "the shift in shard_of keeps the upper 6 bits");

// Under the lock. What is held may have completed already, and its handle been given to another operation.
Operation* find_in(Shard& shard, Word request) {
  for (Operation* candidate = shard.bucket(request); candidate; candidate = candidate->next)
    if (candidate->request == request && !candidate->held.load(std::memory_order_acquire)) return candidate;
  return nullptr;
}

constexpr std::size_t most_tested_at_once = 16;  // of the abandoned ones: there may be very many

struct Abandoned {
  std::mutex mutex;
  std::vector<std::unique_ptr<Operation>> operations;
  std::size_t next = 0;  // to be tested
  std::atomic<bool> any{false};
};
Abandoned& abandoned() {
  alignas(Abandoned) static unsigned char storage[sizeof(Abandoned)];
  static Abandoned* const instance = new (storage) Abandoned;  // never destroyed
  return *instance;
}

// True if it has completed; then nothing of it is left in the host.
bool completes(Operation& operation) {
  auto request = static_cast<abi::HandleStorage>(operation.request);
  int flag = 0;
  alignas(8) std::array<std::byte, abi::status_bytes> status;
  const int error = host<Symbol::MPI_Test>(as_word(&request), as_word(&flag), as_word(status.data()));
  if (error == 0 && !flag) return false;
  if (error == 0) operation.deliver(status.data());
  if (operation.persistent) host<Symbol::MPI_Request_free>(as_word(&request));
  return true;
}

}  // namespace

void Operation::deliver(const void* status) {
  if (!receives() || delivered || !active) return;
  delivered = true;
  if (exchange)
    exchange->unpack();
  else
    received()->unpack(received_bytes(status));
}

void Operation::pack() const {
  if (exchange) exchange->pack();
  if (outgoing) outgoing->pack();
}

void track(std::unique_ptr<Operation> operation) {
  Shard& shard = shard_of(operation->request);
  tracked_requests.fetch_add(1, std::memory_order_relaxed);
  bool is_known = false;
  {
    const std::lock_guard hold(shard.mutex);
    is_known = find_in(shard, operation->request) != nullptr;
    const std::size_t size = shard.size.load(std::memory_order_relaxed) + 1;
    shard.size.store(size, std::memory_order_relaxed);
    if (size > 2 * shard.bucket_count) shard.grow();
    shard.add(*operation.release());
  }
  if (!is_known || completions_may_be_unseen()) return;
  // The host has given the handle away again.
  log(LogLevel::error, "a request was completed without Millrace (PMPI): what it received may be missing");
  expect_unseen_completions("a call reaches the host behind us");
}

Operation* find_operation(Word request) {
  Shard& shard = shard_of(request);
  if (shard.size.load(std::memory_order_relaxed) == 0) return nullptr;
  const std::lock_guard hold(shard.mutex);
  return find_in(shard, request);
}

std::unique_ptr<Operation> untrack(Operation& operation) {
  Shard& shard = shard_of(operation.request);
  const std::lock_guard hold(shard.mutex);
  Operation** place = &shard.bucket(operation.request);
  while (*place != &operation) place = &(*place)->next;
  *place = operation.next;
  shard.size.fetch_sub(1, std::memory_order_relaxed);
  tracked_requests.fetch_sub(1, std::memory_order_relaxed);
  return std::unique_ptr<Operation>(&operation);
}

Held::Held(Word request, bool may_free) {
  Shard& shard = shard_of(request);
  if (shard.size.load(std::memory_order_relaxed) == 0) return;
  const std::lock_guard hold(shard.mutex);
  operation_ = find_in(shard, request);
  if (operation_ && !operation_->active) operation_ = nullptr;
  holds_ = operation_ && may_free && !operation_->persistent;
  if (holds_) operation_->held.store(true, std::memory_order_relaxed);
}

Held::~Held() {
  if (holds_) operation_->held.store(false, std::memory_order_release);
}

void Held::end_failed() {
  if (!holds_ || !operation_->receives()) return end();
  holds_ = false;
  static_cast<void>(untrack(*operation_).release());
}

void Held::end() {
  if (operation_->persistent) operation_->active = false;
  if (!std::exchange(holds_, false)) return;
  untrack(*operation_);
}

void abandon(std::unique_ptr<Operation> operation) {
  tracked_requests.fetch_add(1, std::memory_order_relaxed);
  const std::lock_guard hold(abandoned().mutex);
  abandoned().operations.push_back(std::move(operation));
  abandoned().any.store(true, std::memory_order_relaxed);
}

void test_abandoned() {
  Abandoned& all = abandoned();
  if (!all.any.load(std::memory_order_relaxed)) return;
  const std::unique_lock hold(all.mutex, std::try_to_lock);
  if (!hold) return;
  std::vector<std::unique_ptr<Operation>>& operations = all.operations;
  for (std::size_t tests = std::min(most_tested_at_once, operations.size()); tests > 0; --tests) {
    if (all.next >= operations.size()) all.next = 0;
    if (!completes(*operations[all.next])) {
      ++all.next;
      continue;
    }
    std::swap(operations[all.next], operations.back());
    operations.pop_back();
    tracked_requests.fetch_sub(1, std::memory_order_relaxed);
  }
  if (operations.empty()) all.any.store(false, std::memory_order_relaxed);
}

void forget_requests() {
  test_abandoned();
  Abandoned& all = abandoned();
  const std::lock_guard hold(all.mutex);
  // The host ends them inside MPI_Finalize, with buffers that therefore live on.
  for (std::unique_ptr<Operation>& operation : all.operations) {
    auto request = static_cast<abi::HandleStorage>(operation->request);
    host<Symbol::MPI_Request_free>(as_word(&request));
    static_cast<void>(operation.release());
  }
  all.operations.clear();
}

}  // namespace millrace::shim
