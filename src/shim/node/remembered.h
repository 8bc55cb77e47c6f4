// A map from handles to what stays where it is until it is erased, and for each thread its last answers: they hold
// while nothing changes. Who may use a handle has synchronised with who made or freed it, by MPI's rules.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <unordered_map>
#include <utility>

#include "base/hash.h"
#include "shim/bind/word.h"

namespace millrace::shim {

template <class Value>
class Remembered {
 public:
  // Null if it is not there.
  static const Value* find(Word handle) {
    Answer& answer = answers[spread(handle) >> 58];
    const std::uint64_t now = generation.load(std::memory_order_acquire);  // with the releases in changed()
    if (answer.handle == handle && answer.generation == now) return answer.value;
    return look_up(handle, now, answer);
  }
  // Leaves what is there: other threads may hold it.
  static void keep(Word handle, std::unique_ptr<const Value> value) {
    const std::lock_guard lock(mutex);
    if (map().try_emplace(handle, std::move(value)).second) changed();
  }
  // What was there is gone: nobody else may hold it.
  static void set(Word handle, std::unique_ptr<const Value> value) {
    const std::lock_guard lock(mutex);
    map()[handle].swap(value);
    changed();
  }
  static void erase(Word handle) {
    const std::lock_guard lock(mutex);
    if (map().erase(handle) != 0) changed();
  }
  static void clear() {
    const std::lock_guard lock(mutex);
    map().clear();
    changed();
  }

 private:
  struct Answer {
    Word handle = 0;
    std::uint64_t generation = 0;
    const Value* value = nullptr;
  };
  [[gnu::noinline]] static const Value* look_up(Word handle, std::uint64_t now, Answer& answer) {
    const std::lock_guard lock(mutex);
    const auto found = map().find(handle);
    answer = {handle, now, found == map().end() ? nullptr : found->second.get()};
    return answer.value;
  }
  static void changed() { generation.fetch_add(1, std::memory_order_release); }
  static auto& map() {
    // Never destroyed: communicators and requests may be freed by destructors elsewhere.
    static auto& remembered = *new std::unordered_map<Word, std::unique_ptr<const Value>>;
    return remembered;
  }

  static inline constinit std::mutex mutex;
  static inline constinit std::atomic<std::uint64_t> generation{1};
  static inline constinit thread_local std::array<Answer, 64> answers __attribute__((tls_model("initial-exec"))) = {};
};

}  // namespace millrace::shim
