#include "base/fiber.h"

#include <sys/mman.h>

#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <new>

#if defined(__SANITIZE_ADDRESS__)
#include <sanitizer/common_interface_defs.h>
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define __SANITIZE_ADDRESS__ 1
#include <sanitizer/common_interface_defs.h>
#endif
#endif

// millrace_switch_stack(void** left, void* to): stores what a call must keep (the ABIs' callee-saved registers and the
// modes of floating-point arithmetic) on the stack, its pointer in *left, and goes on where `to` was left.
// millrace_fiber_entry: where a new stack goes on; calls the function in one kept register with what is in another.
// glibc's swapcontext() would do, but for its two system calls, to keep the signal mask, each time. The modes are
// loaded where they differ only: that takes longer than all the rest.
#if defined(__x86_64__)
asm(R"(
  .text
  .p2align 4
  .globl millrace_switch_stack
  .hidden millrace_switch_stack
  .type millrace_switch_stack, @function
millrace_switch_stack:
  .cfi_startproc
  endbr64
  pushq %rbp
  pushq %rbx
  pushq %r12
  pushq %r13
  pushq %r14
  pushq %r15
  subq $8, %rsp
  stmxcsr (%rsp)
  fnstcw 4(%rsp)
  movq %rsp, (%rdi)
  movq %rsp, %rcx
  movq %rsi, %rsp
  movl (%rsp), %eax
  cmpl (%rcx), %eax
  jne 1f
  movzwl 4(%rsp), %eax
  cmpw 4(%rcx), %ax
  je 2f
1:
  ldmxcsr (%rsp)
  fldcw 4(%rsp)
2:
  addq $8, %rsp
  popq %r15
  popq %r14
  popq %r13
  popq %r12
  popq %rbx
  popq %rbp
  ret
  .cfi_endproc
  .size millrace_switch_stack, . - millrace_switch_stack

  .p2align 4
  .globl millrace_fiber_entry
  .hidden millrace_fiber_entry
  .type millrace_fiber_entry, @function
millrace_fiber_entry:
  .cfi_startproc
  .cfi_undefined rip
  endbr64
  movq %r13, %rdi
  call *%r12
  ud2
  .cfi_endproc
  .size millrace_fiber_entry, . - millrace_fiber_entry
)");
#elif defined(__aarch64__)
asm(R"(
  .text
  .p2align 4
  .globl millrace_switch_stack
  .hidden millrace_switch_stack
  .type millrace_switch_stack, %function
millrace_switch_stack:
  .cfi_startproc
  hint #34
  sub sp, sp, #176
  stp x19, x20, [sp, #0]
  stp x21, x22, [sp, #16]
  stp x23, x24, [sp, #32]
  stp x25, x26, [sp, #48]
  stp x27, x28, [sp, #64]
  stp x29, x30, [sp, #80]
  stp d8, d9, [sp, #96]
  stp d10, d11, [sp, #112]
  stp d12, d13, [sp, #128]
  stp d14, d15, [sp, #144]
  mrs x2, fpcr
  str x2, [sp, #160]
  mov x2, sp
  str x2, [x0]
  mov sp, x1
  ldr x2, [sp, #160]
  msr fpcr, x2
  ldp x19, x20, [sp, #0]
  ldp x21, x22, [sp, #16]
  ldp x23, x24, [sp, #32]
  ldp x25, x26, [sp, #48]
  ldp x27, x28, [sp, #64]
  ldp x29, x30, [sp, #80]
  ldp d8, d9, [sp, #96]
  ldp d10, d11, [sp, #112]
  ldp d12, d13, [sp, #128]
  ldp d14, d15, [sp, #144]
  add sp, sp, #176
  ret
  .cfi_endproc
  .size millrace_switch_stack, . - millrace_switch_stack

  .p2align 4
  .globl millrace_fiber_entry
  .hidden millrace_fiber_entry
  .type millrace_fiber_entry, %function
millrace_fiber_entry:
  .cfi_startproc
  .cfi_undefined x30
  mov x0, x20
  blr x19
  brk #1
  .cfi_endproc
  .size millrace_fiber_entry, . - millrace_fiber_entry
)");
#endif

extern "C" {
[[gnu::visibility("hidden")]] void millrace_switch_stack(void** left, void* to);
[[gnu::visibility("hidden")]] void millrace_fiber_entry();
#if !defined(__x86_64__) && !defined(__aarch64__)
void millrace_switch_stack(void**, void*) { std::abort(); }
void millrace_fiber_entry() { std::abort(); }
#endif
}

namespace millrace {
namespace {

constexpr std::size_t page_bytes = 4096;  // at least; mprotect() fails where pages are larger, and is not needed

std::mutex spare_mutex;
constinit Fiber* spare = nullptr;        // a stack of them; never given back to the system
std::atomic<Fiber*> last_used{nullptr};  // one that is to be had without the lock

thread_local constinit Fiber* running __attribute__((tls_model("initial-exec"))) = nullptr;

// Out of line, and nothing that a compiler may take for the same twice: after a switch the thread may be another one.
[[gnu::noinline]] Fiber*& running_here() {
  asm volatile("" ::: "memory");
  return running;
}

// What the sanitizer of addresses must know of each switch.
#if defined(__SANITIZE_ADDRESS__)
class Announced {
 public:
  Announced(const void* bottom, std::size_t bytes) { __sanitizer_start_switch_fiber(&fake_, bottom, bytes); }
  ~Announced() { __sanitizer_finish_switch_fiber(fake_, nullptr, nullptr); }

 private:
  void* fake_ = nullptr;
};
#endif

// A first frame as millrace_switch_stack() leaves one.
void* first_frame(char* top, void (*function)(void*) noexcept, void* context) {
#if defined(__x86_64__)
  // Each word is written once, as it is read later: what is read as parts of several words waits for all of them.
  constexpr std::size_t words = 8;  // modes, r15 to r12, rbx, rbp, and where to return to
  auto* const registers = reinterpret_cast<std::uint64_t*>(top - 64) - words;
  asm volatile("stmxcsr (%0)\n\tfnstcw 4(%0)" : : "r"(registers) : "memory");
  for (const std::size_t kept : {1, 2, 5, 6}) registers[kept] = 0;
  registers[3] = reinterpret_cast<std::uint64_t>(context);   // r13
  registers[4] = reinterpret_cast<std::uint64_t>(function);  // r12
  registers[7] = reinterpret_cast<std::uint64_t>(&millrace_fiber_entry);
#else
  constexpr std::size_t words = 22;
  auto* const registers = reinterpret_cast<std::uint64_t*>(top - 64) - words;
  std::memset(registers, 0, words * sizeof *registers);
  registers[0] = reinterpret_cast<std::uint64_t>(function);  // x19
  registers[1] = reinterpret_cast<std::uint64_t>(context);   // x20
  registers[11] = reinterpret_cast<std::uint64_t>(&millrace_fiber_entry);
#if defined(__aarch64__)
  asm("mrs %0, fpcr" : "=r"(registers[20]));
#endif
#endif
  return registers;
}

}  // namespace

bool Fiber::can_switch() noexcept {
#if defined(__x86_64__)
  std::uint64_t shadow = 0;
  asm("rdsspq %0" : "+r"(shadow));  // does nothing where there is none
  return shadow == 0;
#elif defined(__aarch64__)
  return true;
#else
  return false;  // nobody has written it down for this processor: then nobody may start a fiber
#endif
}

Fiber* Fiber::take() noexcept {
  // Partner: give_back().
  if (Fiber* const found = last_used.exchange(nullptr, std::memory_order_acquire)) return found;
  {
    const std::lock_guard hold(spare_mutex);
    if (Fiber* const found = spare) {
      spare = found->next_;
      return found;
    }
  }
  auto* const made = new (std::nothrow) Fiber;
  if (!made) return nullptr;
  void* const memory = mmap(nullptr, page_bytes + stack_bytes, PROT_READ | PROT_WRITE,
                            MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_STACK, -1, 0);
  if (memory == MAP_FAILED) {
    delete made;
    return nullptr;
  }
  mprotect(memory, page_bytes, PROT_NONE);
  made->stack_ = static_cast<char*>(memory) + page_bytes;
  return made;
}

void Fiber::give_back() noexcept {
  Fiber* none = nullptr;
  if (last_used.compare_exchange_strong(none, this, std::memory_order_release)) return;
  const std::lock_guard hold(spare_mutex);
  next_ = spare;
  spare = this;
}

FiberStack::~FiberStack() {
  while (Fiber* const fiber = pop()) fiber->give_back();
}

Fiber* FiberStack::pop() noexcept {
  Fiber* const taken = top_;
  if (!taken) return nullptr;
  top_ = taken->next_;
  --size_;
  return taken;
}

void FiberStack::push(Fiber* fiber) noexcept {
  if (size_ == most) return fiber->give_back();
  fiber->next_ = top_;
  top_ = fiber;
  ++size_;
}

Fiber* Fiber::current() noexcept { return running_here(); }

void Fiber::run(void* self) noexcept {
  auto& fiber = *static_cast<Fiber*>(self);
#if defined(__SANITIZE_ADDRESS__)
  __sanitizer_finish_switch_fiber(nullptr, &fiber.caller_stack_, &fiber.caller_bytes_);
#endif
  fiber.function_(fiber.context_);
  fiber.has_returned_ = true;
  suspend();
}

void Fiber::start(void (*function)(void*), void* context) noexcept {
  function_ = function;
  context_ = context;
  has_returned_ = false;
  own_ = first_frame(stack_ + stack_bytes, &Fiber::run, this);
  switch_to();
}

void Fiber::resume() noexcept { switch_to(); }

void Fiber::switch_to() noexcept {
  Fiber* const outer = running_here();
  running_here() = this;
#if defined(__SANITIZE_ADDRESS__)
  const Announced announced(stack_, stack_bytes);
#endif
  millrace_switch_stack(&caller_, own_);
  running_here() = outer;
}

void Fiber::suspend() noexcept {
  Fiber& fiber = *running_here();
#if defined(__SANITIZE_ADDRESS__)
  // Where it came from, for it may be resumed by another thread: asked for anew on each arrival.
  void* fake = nullptr;
  __sanitizer_start_switch_fiber(fiber.has_returned_ ? nullptr : &fake, fiber.caller_stack_, fiber.caller_bytes_);
#endif
  millrace_switch_stack(&fiber.own_, fiber.caller_);
#if defined(__SANITIZE_ADDRESS__)
  __sanitizer_finish_switch_fiber(fake, &fiber.caller_stack_, &fiber.caller_bytes_);
#endif
}

}  // namespace millrace
