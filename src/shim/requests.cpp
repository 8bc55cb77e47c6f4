#include "shim/requests.h"

#include <array>
#include <cstdint>
#include <mutex>
#include <vector>

#include "shim/layout_status.h"

namespace millrace::shim {

constinit std::atomic<int> tracked_requests{0};

namespace {

struct alignas(64) Shard {
  std::atomic<Operation*> first{nullptr};  // written under the lock, read without only to see that there is none
  std::mutex mutex;
};

constexpr std::size_t shard_count = 64;
std::array<Shard, shard_count> shards;

Shard& shard_of(Word request) { return shards[(request * 0x9e3779b97f4a7c15u) >> 58]; }
static_assert(shard_count == std::size_t{1} << 6, "the shift in shard_of keeps the upper 6 bits");

struct Abandoned {
  std::mutex mutex;
  std::vector<std::unique_ptr<Operation>> operations;
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
  const std::lock_guard hold(shard.mutex);
  operation->next = shard.first.load(std::memory_order_relaxed);
  shard.first.store(operation.release(), std::memory_order_relaxed);
}

Operation* find_operation(Word request) {
  Shard& shard = shard_of(request);
  if (!shard.first.load(std::memory_order_relaxed)) return nullptr;
  const std::lock_guard hold(shard.mutex);
  for (Operation* candidate = shard.first.load(std::memory_order_relaxed); candidate; candidate = candidate->next)
    if (candidate->request == request) return candidate;
  return nullptr;
}

std::unique_ptr<Operation> untrack(Operation& operation) {
  Shard& shard = shard_of(operation.request);
  const std::lock_guard hold(shard.mutex);
  Operation* candidate = shard.first.load(std::memory_order_relaxed);
  if (candidate == &operation) {
    shard.first.store(operation.next, std::memory_order_relaxed);
  } else {
    while (candidate->next != &operation) candidate = candidate->next;
    candidate->next = operation.next;
  }
  tracked_requests.fetch_sub(1, std::memory_order_relaxed);
  return std::unique_ptr<Operation>(&operation);
}

Held::Held(Word request, bool may_free) : operation_(find_operation(request)) {
  if (operation_ && !operation_->active) operation_ = nullptr;
  if (operation_ && may_free && !operation_->persistent) owned_ = untrack(*operation_);
}

Held::~Held() {
  if (owned_) track(std::move(owned_));
}

void Held::end_failed() {
  if (owned_ && owned_->receives()) static_cast<void>(owned_.release());
  end();
}

void Held::end() {
  if (operation_->persistent) operation_->active = false;
  owned_.reset();
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
  const int before = static_cast<int>(all.operations.size());
  std::erase_if(all.operations, [](const std::unique_ptr<Operation>& operation) { return completes(*operation); });
  tracked_requests.fetch_sub(before - static_cast<int>(all.operations.size()), std::memory_order_relaxed);
  if (all.operations.empty()) all.any.store(false, std::memory_order_relaxed);
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
