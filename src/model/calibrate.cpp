#include "model/calibrate.h"

#include <sched.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstring>
#include <functional>
#include <optional>
#include <thread>
#include <vector>

#include "base/affinity.h"
#include "base/clock.h"
#include "collective/collective.h"
#include "collective/group.h"
#include "model/machine.h"
#include "model/pages.h"
#include "shared_memory/processors.h"
#include "shared_memory/topology.h"
#include "shared_memory/waiting.h"

namespace millrace::model {
namespace {

constexpr std::size_t chunk_bytes = 32 << 10, chunks = 8;  // as slots of a group
constexpr std::size_t flags = 64, flag_stride_bytes = 4096 + 128;
constexpr int rounds = 15;

void pin(int processor) {
  cpu_set_t one;
  CPU_ZERO(&one);
  CPU_SET(processor, &one);
  sched_setaffinity(0, sizeof one, &one);
}

// Of the times of something that is done again and again, what it takes if nothing else is going on.
double undisturbed(std::vector<double> times) {
  const auto quartile = times.begin() + static_cast<std::ptrdiff_t>(times.size() / 4);
  std::nth_element(times.begin(), quartile, times.end());
  return *quartile;
}

double now_ns() { return static_cast<double>(monotonic_ns()); }

// Two threads, each on a processor of its own, or both on one; they take turns in what they do.
class Two {
 public:
  Two(int first, int second) : processors_{first, second} {}

  // Thread 0 and thread 1 do this.
  void together(const std::function<void(int)>& work) {
    for (Turn& turn : turns_) turn.value.store(0, std::memory_order_relaxed);
    std::thread other([&] {
      pin(processors_[1]);
      work(1);
    });
    std::thread own([&] {
      pin(processors_[0]);
      work(0);
    });
    own.join();
    other.join();
  }
  // Each writes a line of its own, as ranks do: a line that both write costs several times as much.
  void await(int thread, std::uint64_t turn) {
    while (turns_[1 - thread].value.load(std::memory_order_acquire) < turn)  // partner: pass()
      if (processors_[0] == processors_[1]) sched_yield();
  }
  void pass(int thread, std::uint64_t turn) {
    turns_[thread].value.store(turn, std::memory_order_release);  // partner: await()
  }

 private:
  struct alignas(128) Turn {
    std::atomic<std::uint64_t> value;
  };
  int processors_[2];
  Turn turns_[2]{};
};

// One way of a line; where both share a processor, of a switch.
double one_way_ns(Two& two, int trips) {
  std::vector<double> times;
  for (int round = 0; round < rounds; ++round)
    two.together([&](int thread) {
      const double begin_ns = now_ns();
      for (int trip = 0; trip < trips; ++trip) {
        const std::uint64_t turn = 2 * static_cast<std::uint64_t>(trip) + static_cast<std::uint64_t>(thread);
        two.await(thread, turn);
        two.pass(thread, turn + 1);
      }
      if (thread == 0) times.push_back((now_ns() - begin_ns) / (2 * trips));
    });
  return undisturbed(times);
}

// Of flags that the other has written: one more, when they are asked for one after the other.
double next_line_ns(Two& two, double line_ns) {
  Pages pages;
  if (!pages.map(flags * flag_stride_bytes)) return line_ns;
  const auto flag = [&](std::size_t index) -> std::atomic<std::uint64_t>& {
    return *reinterpret_cast<std::atomic<std::uint64_t>*>(pages.base() + index * flag_stride_bytes);
  };
  std::vector<double> times;
  two.together([&](int thread) {
    for (std::uint64_t round = 1; round <= 200; ++round) {
      two.await(thread, 2 * round - 2 + static_cast<std::uint64_t>(thread));
      const double begin_ns = now_ns();
      for (std::size_t index = 0; index < flags; ++index) {
        if (thread == 0)
          flag(index).store(round, std::memory_order_release);  // partner: the load below
        else
          while (flag(index).load(std::memory_order_acquire) < round) {
          }
      }
      if (thread == 1) times.push_back(now_ns() - begin_ns);
      two.pass(thread, 2 * round - 1 + static_cast<std::uint64_t>(thread));
    }
  });
  return std::clamp((undisturbed(times) - line_ns) / (flags - 1), 1.0, line_ns);
}

struct Shared {
  double fetch_bytes_per_ns, take_bytes_per_ns;
};

// One fills chunks that the other has read, who copies them out.
Shared shared_copies(Two& two) {
  Pages pages;
  if (!pages.map((chunks + 2) * chunk_bytes)) return {1, 1};
  std::vector<double> times[2];
  two.together([&](int thread) {
    char* const own = pages.base() + (chunks + static_cast<std::size_t>(thread)) * chunk_bytes;
    for (std::uint64_t round = 0; round < 400; ++round) {
      char* const chunk = pages.base() + round % chunks * chunk_bytes;
      two.await(thread, 2 * round + static_cast<std::uint64_t>(thread));
      const double begin_ns = now_ns();
      if (thread == 0)
        std::memcpy(chunk, own, chunk_bytes);
      else
        std::memcpy(own, chunk, chunk_bytes);
      if (round > 2 * chunks) times[thread].push_back(now_ns() - begin_ns);
      two.pass(thread, 2 * round + 1 + static_cast<std::uint64_t>(thread));
    }
  });
  return {chunk_bytes / undisturbed(times[1]), chunk_bytes / undisturbed(times[0])};
}

// Each copies so many bytes, at the same time.
double copy_bytes_per_ns(Two& two, std::size_t bytes) {
  std::vector<double> times[2];
  two.together([&](int thread) {
    std::vector<char> from(bytes, 1), to(bytes, 2);
    two.await(thread, 0);
    const int copies = static_cast<int>(std::max<std::size_t>(3, (4 << 20) / bytes));
    for (int round = 0; round < 7; ++round) {
      const double begin_ns = now_ns();
      for (int copy = 0; copy < copies; ++copy) {
        std::memcpy(to.data(), from.data(), bytes);
        std::atomic_signal_fence(std::memory_order_seq_cst);
      }
      times[thread].push_back((now_ns() - begin_ns) / copies);
    }
  });
  return static_cast<double>(bytes) / std::max(undisturbed(times[0]), undisturbed(times[1]));
}

// The size of caches with which the rates of both kinds come closest to what was measured.
void measure_copies(Two& two, Costs& costs) {
  std::vector<std::pair<double, double>> rates;  // of so many bytes that a copy goes through
  for (std::size_t bytes = 32 << 10; bytes <= 32u << 20; bytes *= 4)
    rates.emplace_back(2 * static_cast<double>(bytes), copy_bytes_per_ns(two, bytes));
  costs.copy_bytes_per_ns = rates.front().second;
  costs.memory_bytes_per_ns = std::min(rates.back().second, rates.front().second);
  double least_error = 1e300;
  for (int step = 0; step <= 40; ++step) {  // 64 KiB to 64 MiB
    const double cache_bytes = (64 << 10) * std::exp2(step / 4.0);
    double error = 0;
    for (const auto& [working_bytes, rate] : rates) {
      const double cached = std::min(1.0, cache_bytes / working_bytes);
      const double modelled = 1 / (cached / costs.copy_bytes_per_ns + (1 - cached) / costs.memory_bytes_per_ns);
      error += std::pow(std::log(modelled / rate), 2);
    }
    if (error >= least_error) continue;
    least_error = error;
    costs.cache_bytes = cache_bytes;
  }
}

double kernel_ns() {
  const collective::Reducer sum = collective::kernel_reducer(kernel::Op::sum, kernel::Type::f32);
  float in[2] = {1, 2}, inout[2] = {3, 4};
  std::vector<double> times;
  for (int round = 0; round < rounds; ++round) {
    const double begin_ns = now_ns();
    for (int call = 0; call < 10000; ++call) {
      sum.reduce2(in, inout, 2);
      std::atomic_signal_fence(std::memory_order_seq_cst);
    }
    times.push_back((now_ns() - begin_ns) / 10000);
  }
  return undisturbed(times);
}

double system_read_ns(std::size_t bytes) {
  std::vector<char> from(bytes, 1), to(bytes);
  const iovec local{to.data(), bytes}, remote{from.data(), bytes};
  std::vector<double> times;
  for (int round = 0; round < 5 * rounds; ++round) {
    const double begin_ns = now_ns();
    if (process_vm_readv(getpid(), &local, 1, &remote, 1, 0) < 0) return 0;
    times.push_back(now_ns() - begin_ns);
  }
  return undisturbed(times);
}

// What a Barrier of two takes beyond a line.
double call_ns(Two& two, double line_ns) {
  using namespace collective;
  const GroupShape shape = shape_for(2, 64 << 20);
  Pages pages;
  if (!pages.map(segment_bytes(shape))) return 0;
  std::vector<double> times;
  two.together([&](int thread) {
    Group group;
    Options options;
    options.waiting = Waiting::spin;
    if (group.join(pages.base(), shape, static_cast<std::uint32_t>(thread), options) != Status::ok ||
        group.start() != Result::ok)
      return;
    for (int round = 0; round < rounds; ++round) {
      const double begin_ns = now_ns();
      for (int call = 0; call < 2000; ++call) barrier(group);
      if (thread == 0) times.push_back((now_ns() - begin_ns) / 2000);
    }
  });
  return times.empty() ? 0 : std::max(1.0, undisturbed(times) - line_ns);
}

}  // namespace

Costs measure_costs() {
  Costs costs;
  const std::vector<int> processors = allowed_processors();
  if (processors.size() < 2) return costs;
  // The first processor, and one at each distance from it.
  const auto place = [](int processor) {
    shared_memory::Processors mask;
    mask.mask[processor / 64] |= std::uint64_t{1} << (processor % 64);
    return shared_memory::place_on(mask, "");
  };
  const shared_memory::Place own = place(processors[0]);
  std::optional<int> others[4];
  for (const int processor : processors) {
    if (processor == processors[0] || processor >= static_cast<int>(shared_memory::most_processors)) continue;
    const shared_memory::Place its = place(processor);
    const std::size_t distance = its.at[0] != own.at[0] ? 3 : its.at[1] != own.at[1] ? 2 : 1;
    // Another thread of the same core is no distance, unless nothing else is there.
    const bool is_same_core = shared_memory::core_of(static_cast<std::uint32_t>(processor), "") ==
                              shared_memory::core_of(static_cast<std::uint32_t>(processors[0]), "");
    if (!others[distance] && (!is_same_core || processors.size() == 2)) others[distance] = processor;
  }
  const Costs assumed;
  std::optional<Two> nearest;
  double ratio = 1;
  for (std::size_t distance = 1; distance < 4; ++distance) {
    costs.line_ns[distance] = assumed.line_ns[distance] * ratio;
    if (!others[distance]) continue;
    Two two(processors[0], *others[distance]);
    costs.line_ns[distance] = one_way_ns(two, 2000);
    ratio = costs.line_ns[distance] / assumed.line_ns[distance];
    if (!nearest) nearest.emplace(processors[0], *others[distance]);
  }
  if (!nearest) return costs;
  const double line_ns = others[1] ? costs.line_ns[1] : others[2] ? costs.line_ns[2] : costs.line_ns[3];
  costs.next_line_ns = next_line_ns(*nearest, line_ns);
  const Shared shared = shared_copies(*nearest);
  costs.lines_at_once = std::max(1.0, shared.fetch_bytes_per_ns * line_ns / 64);
  costs.taken_at_once = std::max(1.0, shared.take_bytes_per_ns * line_ns / 64);
  measure_copies(*nearest, costs);
  costs.call_ns = call_ns(*nearest, line_ns);
  costs.kernel_ns = kernel_ns();
  const double small_ns = system_read_ns(64), large_ns = system_read_ns(1 << 20);
  if (small_ns > 0) {
    costs.system_call_ns = small_ns;
    costs.system_bytes_per_ns = (1 << 20) / std::max(1.0, large_ns - small_ns);
  }
  Two one(processors[0], processors[0]);
  costs.switch_ns = one_way_ns(one, 500);
  return costs;
}

}  // namespace millrace::model
