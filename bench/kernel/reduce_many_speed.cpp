// reduce_many_speed [INPUTS [BYTES]]: n inputs in one pass against n - 1 passes over pairs, and with stores past the
// caches. Buffers are taken in turns so that nothing is left in the caches from the last call. ms a call, best of many.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

#include "kernel/kernel.h"
#include "kernel/streaming.h"

namespace {

using namespace millrace::kernel;
using Clock = std::chrono::steady_clock;

template <class F>
double best_ms(F call) {
  double best = 1e30;
  for (int round = 0; round < 40; ++round) {
    const auto start = Clock::now();
    call(round);
    best = std::min(best, std::chrono::duration<double, std::milli>(Clock::now() - start).count());
  }
  return best;
}

}  // namespace

int main(int count, char** words) {
  const std::size_t inputs = count > 1 ? std::strtoul(words[1], nullptr, 0) : 8;
  const std::size_t bytes = count > 2 ? std::strtoul(words[2], nullptr, 0) : 1 << 20;
  constexpr int sets = 4;
  std::vector<std::vector<const void*>> from(sets);
  std::vector<void*> to;
  for (auto& set : from) {
    for (std::size_t k = 0; k < inputs; ++k) {
      void* const buffer = std::aligned_alloc(4096, bytes);
      std::memset(buffer, 0, bytes);
      set.push_back(buffer);
    }
    to.push_back(std::aligned_alloc(4096, bytes));
    std::memset(to.back(), 0, bytes);
  }
  std::printf("%zu inputs of %zu bytes, %s\n%-10s %10s %10s %10s %8s\n", inputs, bytes, active_isa().name, "kernel",
              "pairs", "one pass", "streaming", "ratio");
  struct Case {
    Op op;
    Type type;
  };
  for (const Case each : {Case{Op::sum, Type::f64}, Case{Op::max, Type::f32}, Case{Op::sum, Type::i8},
                          Case{Op::prod, Type::c64}, Case{Op::land, Type::i32}}) {
    const std::size_t n = bytes / type_bytes(each.type);
    const auto pair = find_reduce2(each.op, each.type);
    const auto all = find_reduce_n(each.op, each.type);
    const double pairs = best_ms([&](int round) {
      const auto& set = from[static_cast<std::size_t>(round % sets)];
      void* const out = to[static_cast<std::size_t>(round % sets)];
      find_reduce3(each.op, each.type)(set[0], set[1], out, n);
      for (std::size_t k = 2; k < inputs; ++k) pair(set[k], out, n);
    });
    const double once = best_ms([&](int round) {
      const auto which = static_cast<std::size_t>(round % sets);
      all(from[which].data(), inputs, to[which], n);
    });
    const double streaming = best_ms([&](int round) {
      const auto which = static_cast<std::size_t>(round % sets);
      reduce_n_streaming(each.op, each.type, from[which].data(), inputs, to[which], n);
    });
    std::printf("%-10s %10.3f %10.3f %10.3f %8.2f\n", kernel_name(each.op, each.type), pairs, once, streaming,
                pairs / once);
  }
}
