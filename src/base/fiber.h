// A function on a stack of its own, which it may leave in the middle and be resumed in later, by any thread: so code
// that waits in loops can be used where nobody may wait.
//
//   Fiber* fiber = Fiber::take();              // null: no memory
//   fiber->start(function, context);           // returns when `function` has returned, or suspends
//   ... Fiber::suspend() ...                   // called below `function`
//   while (!fiber->has_returned()) fiber->resume();
//   fiber->give_back();
//
// One thread at a time runs a fiber; who resumes it must see what the last one did (by a lock or a flag of its own).
// Below `function` a thread's own variables (errno included) may change with every suspend(), so their addresses are
// not to be kept across it; exceptions may not leave `function`. Rounding mode and the like stay with the fiber.
#pragma once

#include <cstddef>
#include <cstdint>

namespace millrace {

class Fiber {
 public:
  static constexpr std::size_t stack_bytes = std::size_t{256} << 10;

  // False where the kernel checks return addresses by a stack of its own (shadow stacks), which we do not switch.
  static bool can_switch() noexcept;
  // From those that were given back, or a new one; null if memory is short. Thread-safe.
  static Fiber* take() noexcept;
  void give_back() noexcept;  // before start(), or once it has returned

  void start(void (*function)(void*), void* context) noexcept;
  void resume() noexcept;
  bool has_returned() const { return has_returned_; }

  // The fiber that runs here, or null.
  static Fiber* current() noexcept;
  // Leaves it.
  static void suspend() noexcept;

  void* context() const { return context_; }

 private:
  Fiber() = default;
  ~Fiber() = default;
  static void run(void* self) noexcept;
  void switch_to() noexcept;

  void (*function_)(void*) = nullptr;
  void* context_ = nullptr;
  void* own_ = nullptr;                                  // the stack pointer where it was left
  void* caller_ = nullptr;                               // the same of who resumed it
  char* stack_ = nullptr;                                // its lowest byte; the page below is not there
  Fiber* next_ = nullptr;                                // of those that were given back
  [[maybe_unused]] const void* caller_stack_ = nullptr;  // for the sanitizer of addresses
  [[maybe_unused]] std::size_t caller_bytes_ = 0;
  bool has_returned_ = true;
  friend class FiberStack;
};

// Fibers of one owner, the one used last on top: it takes them and gives them back without a locked operation. Not
// thread-safe.
class FiberStack {
 public:
  FiberStack() = default;
  ~FiberStack();
  FiberStack(const FiberStack&) = delete;
  FiberStack& operator=(const FiberStack&) = delete;
  Fiber* pop() noexcept;             // null: it is empty
  void push(Fiber* fiber) noexcept;  // one that has returned; more than a few are given back

 private:
  static constexpr std::uint32_t most = 16;
  Fiber* top_ = nullptr;
  std::uint32_t size_ = 0;
};

}  // namespace millrace
