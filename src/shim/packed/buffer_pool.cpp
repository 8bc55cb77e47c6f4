#include "shim/packed/buffer_pool.h"

#include <array>
#include <atomic>
#include <bit>
#include <cstdlib>
#include <mutex>
#include <thread>

namespace millrace::shim {
namespace {

//   class      0      1      2   ...        26
//   bytes    256    512   1 Ki            16 Gi     a waiting buffer's first word points to the next one
constexpr unsigned smallest_shift = 8;
constexpr std::size_t class_count = 27;

class SpinLock {
 public:
  void lock() {
    while (flag_.test_and_set(std::memory_order_acquire))                       // pairs with the release in unlock()
      while (flag_.test(std::memory_order_relaxed)) std::this_thread::yield();  // its owner may have lost the core
  }
  void unlock() { flag_.clear(std::memory_order_release); }

 private:
  std::atomic_flag flag_;
};

struct alignas(64) SizeClass {
  SpinLock lock;
  void* first = nullptr;
};

constinit std::array<SizeClass, class_count> classes{};
constinit std::atomic<std::size_t> cap_bytes{std::size_t{32} << 20};
constinit std::atomic<std::size_t> held_bytes{0};

std::size_t class_of(std::int64_t bytes) {
  const auto wanted = static_cast<std::uint64_t>(bytes);
  if (wanted <= std::uint64_t{1} << smallest_shift) return 0;
  return static_cast<std::size_t>(std::bit_width(wanted - 1)) - smallest_shift;
}
constexpr std::size_t class_bytes(std::size_t index) { return std::size_t{1} << (index + smallest_shift); }

void* pop(SizeClass& from) {
  const std::lock_guard hold(from.lock);
  void* const buffer = from.first;
  if (buffer) from.first = *static_cast<void**>(buffer);
  return buffer;
}

// Counts `bytes` in, unless that would pass the cap.
bool reserve(std::size_t bytes) {
  const std::size_t cap = cap_bytes.load(std::memory_order_relaxed);
  std::size_t held = held_bytes.load(std::memory_order_relaxed);
  do {
    if (bytes > cap || held > cap - bytes) return false;
  } while (!held_bytes.compare_exchange_weak(held, held + bytes, std::memory_order_relaxed));
  return true;
}

void free_waiting() {
  for (std::size_t i = 0; i < class_count; ++i)
    while (void* buffer = pop(classes[i])) {
      std::free(buffer);
      held_bytes.fetch_sub(class_bytes(i), std::memory_order_relaxed);
    }
}

}  // namespace

void set_buffer_cap(std::size_t bytes) { cap_bytes.store(bytes, std::memory_order_relaxed); }

void* take_buffer(std::int64_t bytes) {
  const std::size_t index = class_of(bytes);
  if (bytes < 0 || index >= class_count) return nullptr;
  if (void* buffer = pop(classes[index])) return buffer;
  if (!reserve(class_bytes(index))) {
    free_waiting();  // of other sizes
    if (!reserve(class_bytes(index))) return nullptr;
  }
  void* const buffer = std::aligned_alloc(64, class_bytes(index));
  if (!buffer) held_bytes.fetch_sub(class_bytes(index), std::memory_order_relaxed);
  return buffer;
}

void give_back_buffer(void* buffer, std::int64_t bytes) {
  SizeClass& to = classes[class_of(bytes)];
  const std::lock_guard hold(to.lock);
  *static_cast<void**>(buffer) = to.first;
  to.first = buffer;
}

}  // namespace millrace::shim
