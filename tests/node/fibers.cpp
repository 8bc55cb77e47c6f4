#include "fibers.h"

namespace millrace::node {
namespace {

constexpr std::size_t stack_bytes = std::size_t{64} << 10;
constexpr std::uint64_t most_switches = 20'000'000, most_step_ns = 2'000'000;

thread_local Fibers* running_fibers = nullptr;

}  // namespace

Fibers* Fibers::current() { return running_fibers; }

void Fibers::start() {
  Fibers& all = *running_fibers;
  Fiber& self = all.fibers_[all.running_];
  (*self.body)();
  self.ended = true;
  swapcontext(&self.context, &all.scheduler_);
}

void Fibers::give_way() {
  Fiber& self = fibers_[running_];
  swapcontext(&self.context, &scheduler_);
}

bool Fibers::run(const std::vector<std::function<void()>>& bodies) {
  fibers_ = std::vector<Fiber>(bodies.size());
  for (std::size_t i = 0; i < bodies.size(); ++i) {
    Fiber& fiber = fibers_[i];
    fiber.body = &bodies[i];
    fiber.stack = std::make_unique_for_overwrite<char[]>(stack_bytes);
    getcontext(&fiber.context);
    fiber.context.uc_stack.ss_sp = fiber.stack.get();
    fiber.context.uc_stack.ss_size = stack_bytes;
    fiber.context.uc_link = nullptr;
    makecontext(&fiber.context, &Fibers::start, 0);
  }
  running_fibers = this;
  std::size_t left = bodies.size();
  std::uint64_t switches = 0;
  for (; left > 0 && switches < most_switches; ++switches) {
    running_ = random_() % fibers_.size();
    Fiber& next = fibers_[running_];
    if (next.ended) continue;
    now_ns_ += random_() % most_step_ns >> random_() % 16;  // mostly little
    swapcontext(&scheduler_, &next.context);
    left -= next.ended;
  }
  running_fibers = nullptr;
  return left == 0;
}

}  // namespace millrace::node
