// reduce_many_speed [INPUTS [BYTES...]]: n inputs in one pass against n - 1 passes over pairs as one would write them
// (whole arrays), against one pass with stores past the caches, and against only reading the inputs, which is the least
// that any of them must do. Buffers are taken in turns so that nothing is left in the inner caches from the last call.
// All in turns; ms a call, medians; the ratio is the median of pairs / one pass by turn.
#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

#include "kernel/kernel.h"
#include "kernel/streaming.h"

namespace {

using namespace millrace::kernel;
using Clock = std::chrono::steady_clock;

struct Case {
  Op op;
  Type type;
};
constexpr Case cases[] = {
    {Op::sum, Type::f64}, {Op::max, Type::f32}, {Op::sum, Type::i8}, {Op::prod, Type::c64}, {Op::land, Type::i32}};
constexpr int turns = 41;

template <class F>
double time_ms(F call) {
  const auto start = Clock::now();
  call();
  return std::chrono::duration<double, std::milli>(Clock::now() - start).count();
}

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

std::uint64_t read_all(const std::vector<const void*>& inputs, std::size_t bytes) {
  std::uint64_t sum[4] = {};
  for (const void* input : inputs) {
    const std::uint64_t* const words = static_cast<const std::uint64_t*>(input);
    for (std::size_t i = 0; i + 4 <= bytes / 8; i += 4)
      for (std::size_t lane = 0; lane < 4; ++lane) sum[lane] += words[i + lane];
  }
  return sum[0] + sum[1] + sum[2] + sum[3];
}

struct Set {
  std::vector<const void*> inputs;
  void* out;
};

std::vector<Set> make_sets(std::size_t inputs, std::size_t bytes) {
  // At least 32 MiB, so that second-level caches hold nothing of a set when its turn comes again.
  std::vector<Set> sets(std::max<std::size_t>(4, (std::size_t{32} << 20) / (inputs * bytes)));
  for (Set& set : sets) {
    const auto buffer = [&] {
      void* const made = std::aligned_alloc(4096, (bytes + 4095) / 4096 * 4096);
      std::memset(made, 0, bytes);
      return made;
    };
    for (std::size_t k = 0; k < inputs; ++k) set.inputs.push_back(buffer());
    set.out = buffer();
  }
  return sets;
}

void measure(std::size_t inputs, std::size_t bytes) {
  const std::vector<Set> sets = make_sets(inputs, bytes);
  std::printf("%zu inputs of %zu bytes, %s\n%-10s %10s %10s %10s %10s %8s\n", inputs, bytes, active_isa().name,
              "kernel", "pairs", "one pass", "streaming", "read only", "ratio");
  std::size_t next = 0;
  volatile std::uint64_t sink = 0;
  for (const Case each : cases) {
    const std::size_t n = bytes / type_bytes(each.type);
    const auto first = find_reduce3(each.op, each.type);
    const auto pair = find_reduce2(each.op, each.type);
    const auto all = find_reduce_n(each.op, each.type);
    std::vector<double> pairs, once, streaming, read, ratio;
    const auto fresh = [&]() -> const Set& { return sets[next++ % sets.size()]; };
    for (int turn = 0; turn < turns; ++turn) {
      pairs.push_back(time_ms([&, &set = fresh()] {
        first(set.inputs[0], set.inputs[1], set.out, n);
        for (std::size_t k = 2; k < inputs; ++k) pair(set.inputs[k], set.out, n);
      }));
      once.push_back(time_ms([&, &set = fresh()] { all(set.inputs.data(), inputs, set.out, n); }));
      streaming.push_back(time_ms(
          [&, &set = fresh()] { reduce_n_streaming(each.op, each.type, set.inputs.data(), inputs, set.out, n); }));
      read.push_back(time_ms([&, &set = fresh()] { sink = sink + read_all(set.inputs, bytes); }));
      ratio.push_back(pairs.back() / once.back());
    }
    std::printf("%-10s %10.4f %10.4f %10.4f %10.4f %8.2f\n", kernel_name(each.op, each.type), median(pairs),
                median(once), median(streaming), median(read), median(ratio));
  }
  for (const Set& set : sets) {
    for (const void* input : set.inputs) std::free(const_cast<void*>(input));
    std::free(set.out);
  }
}

}  // namespace

int main(int count, char** words) {
  const std::size_t inputs = count > 1 ? std::strtoul(words[1], nullptr, 0) : 8;
  if (inputs < 2 || inputs > 1000) {
    std::fprintf(stderr, "reduce_many_speed: takes the number of inputs, 2 to 1000, and sizes in bytes\n");
    return 2;
  }
  if (count > 2)
    for (int i = 2; i < count; ++i) measure(inputs, std::strtoul(words[i], nullptr, 0));
  else
    for (const std::size_t bytes : {64u << 10, 1u << 20, 4u << 20, 16u << 20}) measure(inputs, bytes);
}
