#include "model/calibrate.h"

#include <sched.h>
#include <sys/mman.h>
#include <sys/uio.h>
#include <sys/wait.h>
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

// Two threads, each on a processor of its own; they take turns in what they do.
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
    while (turns_[1 - thread].value.load(std::memory_order_acquire) < turn) {  // partner: pass()
    }
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

// One way of a line.
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

// From one rank to another on the same processor: each waits for the Bcast of the other and makes the next one. In
// processes of their own, for a switch of threads is cheaper; with all that ranks do before they give way.
double switch_ns(int processor) {
  using namespace collective;
  constexpr int trips = 200;
  const Costs assumed;
  const GroupShape shape = shape_for(2, 64 << 20);
  const std::size_t bytes = segment_bytes(shape);
  void* const memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) return assumed.switch_ns;
  const auto take_turns = [&](std::uint32_t rank) {
    std::vector<double> times;
    pin(processor);
    Group group;
    if (group.join(memory, shape, rank, {}) != Status::ok || group.start() != Result::ok) return times;
    std::uint64_t value = 0;
    for (int round = 0; round < rounds && group.broken() == Result::ok; ++round) {
      const double begin_ns = now_ns();
      for (int trip = 0; trip < 2 * trips; ++trip) bcast(group, &value, sizeof value, trip % 2);
      times.push_back((now_ns() - begin_ns) / (2 * trips));
    }
    group.leave();
    return times;
  };
  cpu_set_t before;
  sched_getaffinity(0, sizeof before, &before);
  const pid_t other = fork();
  if (other == 0) _exit(take_turns(1).empty() ? 1 : 0);
  std::vector<double> times;
  if (other > 0) {
    times = take_turns(0);
    waitpid(other, nullptr, 0);
  }
  sched_setaffinity(0, sizeof before, &before);
  munmap(memory, bytes);
  return times.empty() ? assumed.switch_ns : undisturbed(times);
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

// One fills chunks that the other has read, who copies them out: one after the other, and then both at the same time,
// the second a few chunks behind. Memory that is read while the next is written comes faster, or as fast.
Shared shared_copies(Two& two) {
  Pages pages;
  if (!pages.map((chunks + 2) * chunk_bytes)) return {1, 1};
  constexpr std::uint64_t turns = 400;
  std::vector<double> times[2];
  double begin_ns = 0, both_ns = 0;
  two.together([&](int thread) {
    char* const own = pages.base() + (chunks + static_cast<std::size_t>(thread)) * chunk_bytes;
    const auto copy = [&](std::uint64_t turn) {
      char* const chunk = pages.base() + turn % chunks * chunk_bytes;
      std::memcpy(thread == 0 ? chunk : own, thread == 0 ? own : chunk, chunk_bytes);
    };
    for (std::uint64_t turn = 0; turn < turns; ++turn) {
      two.await(thread, 2 * turn + static_cast<std::uint64_t>(thread));
      const double from_ns = now_ns();
      copy(turn);
      if (turn > 2 * chunks) times[thread].push_back(now_ns() - from_ns);
      two.pass(thread, 2 * turn + 1 + static_cast<std::uint64_t>(thread));
    }
    if (thread == 0) begin_ns = now_ns();
    for (std::uint64_t turn = 0; turn < turns; ++turn) {
      const std::uint64_t before = 2 * turns;  // of the turns until here
      two.await(thread, thread == 1 ? before + turn + 1 : turn < chunks ? before : before + turn - chunks + 1);
      copy(turn);
      two.pass(thread, before + turn + 1);
    }
    if (thread == 1) both_ns = (now_ns() - begin_ns) / turns;
  });
  const double alone = chunk_bytes / undisturbed(times[1]);
  return {std::max(alone, chunk_bytes / both_ns), chunk_bytes / undisturbed(times[0])};
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

// The sizes of caches, and the rate of the last one, with which what is modelled comes closest to what was measured.
void measure_copies(Two& two, Costs& costs) {
  std::vector<std::pair<double, double>> rates;  // of so many bytes that a copy goes through
  for (std::size_t bytes = 32 << 10; bytes <= 32u << 20; bytes *= 4)
    rates.emplace_back(2 * static_cast<double>(bytes), copy_bytes_per_ns(two, bytes));
  costs.copy_bytes_per_ns = rates.front().second;
  costs.memory_bytes_per_ns = std::min(rates.back().second, rates.front().second);
  const auto error_of = [&](const Costs& tried) {
    double error = 0;
    for (const auto& [working_bytes, rate] : rates)
      error += std::pow(std::log(tried.copy_rate(tried.parts_of(working_bytes)) / rate), 2);
    return error;
  };
  constexpr int steps = 20;  // 64 KiB to 64 MiB
  const auto size_of = [](int step) { return (64 << 10) * std::exp2(step / 2.0); };
  double least_error = 1e300;
  for (int own = 0; own <= steps; ++own)
    for (int last = own; last <= steps; ++last)
      for (const auto& measured : rates) {
        Costs tried = costs;
        tried.cache_bytes = size_of(own);
        tried.last_cache_bytes = size_of(last);
        tried.last_bytes_per_ns = std::clamp(measured.second, costs.memory_bytes_per_ns, costs.copy_bytes_per_ns);
        const double error = error_of(tried);
        if (error >= least_error) continue;
        least_error = error;
        costs = tried;
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

struct Calls {
  double near_ns = 0;  // one thread is both ranks: what a call takes that waits for no line
  double far_ns = 0;   // the other rank has filled all cells before
};

// Of Bcasts of 8 bytes among two ranks.
Calls calls_ns(Two& two) {
  using namespace collective;
  const GroupShape shape = shape_for(2, 64 << 20);
  Pages pages;
  if (!pages.map(segment_bytes(shape))) return {};
  Group groups[2];
  Options options;
  options.waiting = Waiting::spin;
  for (std::uint32_t rank = 0; rank < 2; ++rank)
    if (groups[rank].join(pages.base(), shape, rank, options) != Status::ok) return {};
  for (Group& group : groups)
    if (group.start() != Result::ok) return {};
  constexpr std::uint64_t bouts = 600;
  const int calls = static_cast<int>(shape.calls_ahead) / 2;  // so that nobody waits for a free cell
  std::uint64_t value = 0;
  const auto make_calls = [&](Group& group) {
    const double begin_ns = now_ns();
    for (int call = 0; call < calls; ++call) bcast(group, &value, sizeof value, 0);
    return (now_ns() - begin_ns) / calls;
  };
  std::vector<double> near, far;
  for (std::uint64_t bout = 0; bout < bouts; ++bout)
    near.push_back((make_calls(groups[0]) + make_calls(groups[1])) / 2);
  two.together([&](int thread) {
    for (std::uint64_t bout = 0; bout < bouts; ++bout) {
      two.await(thread, 2 * bout + static_cast<std::uint64_t>(thread));
      const double each_ns = make_calls(groups[thread]);
      if (thread == 1) far.push_back(each_ns);
      two.pass(thread, 2 * bout + 1 + static_cast<std::uint64_t>(thread));
    }
  });
  return {undisturbed(near), undisturbed(far)};
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
  if (const Calls calls = calls_ns(*nearest); calls.near_ns > 0) {
    costs.call_ns = calls.near_ns;
    // As many calls at once as lines come faster than one after the other.
    costs.ahead_ns = std::clamp(line_ns * calls.near_ns / calls.far_ns, calls.near_ns, line_ns);
  }
  costs.kernel_ns = kernel_ns();
  const double small_ns = system_read_ns(64), large_ns = system_read_ns(1 << 20);
  if (small_ns > 0) {
    costs.system_call_ns = small_ns;
    costs.system_bytes_per_ns = (1 << 20) / std::max(1.0, large_ns - small_ns);
  }
  costs.switch_ns = switch_ns(processors[0]);
  return costs;
}

}  // namespace millrace::model
