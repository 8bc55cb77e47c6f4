#include "shim/reduce/user_ops.h"

#include <atomic>
#include <mutex>
#include <shared_mutex>
#include <unordered_map>

namespace millrace::shim {
namespace {

std::shared_mutex ops_mutex;
std::unordered_map<Word, bool>& ops() {
  static auto& map = *new std::unordered_map<Word, bool>;  // never destroyed: ops may be freed by destructors elsewhere
  return map;
}

// Counts changes; a thread's remembered answer holds while it stands still. With the release of those who change.
std::atomic<std::uint64_t> generation{1};

struct RememberedUserOp {
  Word op = 0;
  std::uint64_t generation = 0;
  bool commutes = false;
};
thread_local RememberedUserOp remembered __attribute__((tls_model("initial-exec")));

}  // namespace

void remember_user_op(Word op, bool commutes) noexcept try {
  const std::lock_guard lock(ops_mutex);
  ops()[op] = commutes;
  generation.fetch_add(1, std::memory_order_release);
} catch (...) {
}

void forget_user_op(Word op) noexcept {
  const std::lock_guard lock(ops_mutex);
  ops().erase(op);
  generation.fetch_add(1, std::memory_order_release);
}

std::optional<bool> user_op_commutes(Word op) {
  const std::uint64_t now = generation.load(std::memory_order_acquire);
  if (remembered.op == op && remembered.generation == now) return remembered.commutes;
  const std::shared_lock lock(ops_mutex);
  const auto found = ops().find(op);
  if (found == ops().end()) return std::nullopt;
  remembered = {op, now, found->second};
  return found->second;
}

}  // namespace millrace::shim
