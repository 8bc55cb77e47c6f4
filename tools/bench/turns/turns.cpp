#include "tools/bench/turns/turns.h"

#include <mpi.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <cstring>

namespace turns {
namespace {

constexpr std::int64_t most_apart_ns = 5000;
// So many calls of ours before the first turn: ranks have agreed, and what is decided after a number of calls is
// decided.
constexpr long calls_before = 200;

std::int64_t now_ns() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

void evict(const Memory& memory) {
  for (std::size_t i = 0; i < memory.bytes; i += 64) {
#if defined(__x86_64__)
    __builtin_ia32_clflush(memory.begin + i);
#elif defined(__aarch64__)
    asm volatile("dc civac, %0" : : "r"(memory.begin + i) : "memory");
#else
#error "no instruction is known here that puts a line out of the caches"
#endif
  }
}

// The same for both sides, another one for each rank and call.
std::int64_t lateness_ns(int rank, long call) {
  std::uint64_t x = static_cast<std::uint64_t>(call) * 0x9e3779b97f4a7c15u +
                    static_cast<std::uint64_t>(rank + 1) * 0xbf58476d1ce4e5b9u;
  x ^= x >> 31;
  x *= 0x94d049bb133111ebu;
  x ^= x >> 29;
  return static_cast<std::int64_t>(x % most_apart_ns);
}

void wait_ns(std::int64_t length) {
  for (const std::int64_t end = now_ns() + length; now_ns() < end;) {
  }
}

// Microseconds a call, on this rank.
double time_of(const Run& run, const Point& point, bool ours, long calls) {
  PMPI_Barrier(MPI_COMM_WORLD);
  if (run.mode == Mode::hot) {
    const std::int64_t start = now_ns();
    for (long i = 0; i < calls; ++i) point.call(ours);
    return static_cast<double>(now_ns() - start) / 1e3 / static_cast<double>(calls);
  }
  std::int64_t inside_ns = 0;
  for (long i = 0; i < calls; ++i) {
    if (run.mode == Mode::cold) {
      for (const Memory& memory : point.touched) evict(memory);
      PMPI_Barrier(MPI_COMM_WORLD);  // nobody's call is timed while another still evicts
    } else {
      wait_ns(lateness_ns(run.rank, i));
    }
    const std::int64_t start = now_ns();
    point.call(ours);
    inside_ns += now_ns() - start;
  }
  return static_cast<double>(inside_ns) / 1e3 / static_cast<double>(calls);
}

double of_all(const Run& run, double own) {
  double all = 0;
  PMPI_Allreduce(&own, &all, 1, MPI_DOUBLE, run.mode == Mode::apart ? MPI_SUM : MPI_MAX, MPI_COMM_WORLD);
  return run.mode == Mode::apart ? all / run.ranks : all;
}

// What all nodes send while `work` runs; ends when all ranks are through.
Sent sent_by(const Run& run, const std::function<void()>& work) {
  if (!run.sent) {
    work();
    return {};
  }
  PMPI_Barrier(MPI_COMM_WORLD);
  const Sent before = run.sent();
  work();
  PMPI_Barrier(MPI_COMM_WORLD);
  const Sent after = run.sent();
  const double own[2] = {after.packets - before.packets, after.bytes - before.bytes};
  double all[2] = {};
  PMPI_Allreduce(own, all, 2, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  return {all[0], all[1]};
}

// Of one call, without what the barriers around them send.
Sent of_one(const Sent& all, const Sent& none, long calls) {
  const auto each = [calls](double value, double idle) {
    return std::max(0.0, value - idle) / static_cast<double>(calls);
  };
  return {each(all.packets, none.packets), each(all.bytes, none.bytes)};
}

// One way of a message of one byte between ranks 0 and 1 through the host says little of the line itself; this is the
// line: two words that both map.
struct alignas(128) Word {
  std::atomic<std::uint64_t> value;
};

double line_ns(const Run& run) {
  static Word* words = nullptr;
  static std::uint64_t number = 0;
  static int share = -1;  // whether they do: they may be on two nodes
  if (run.ranks < 2 || !run.measures_line) return 0;
  if (share < 0) {
    MPI_Comm node;
    int ranks_here = 0;
    PMPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, run.rank, MPI_INFO_NULL, &node);
    PMPI_Comm_size(node, &ranks_here);
    std::vector<int> here(static_cast<std::size_t>(ranks_here));
    PMPI_Allgather(&run.rank, 1, MPI_INT, here.data(), 1, MPI_INT, node);
    share = ranks_here > 1 && here[0] == 0 && here[1] == 1;
    PMPI_Bcast(&share, 1, MPI_INT, 0, MPI_COMM_WORLD);
    MPI_Win window;
    void* base = nullptr;
    MPI_Aint size;
    int unit;
    PMPI_Win_allocate_shared(here[0] == run.rank ? 3 * sizeof(Word) : 0, 1, MPI_INFO_NULL, node,
                             static_cast<void*>(&base), &window);
    PMPI_Win_shared_query(window, 0, &size, &unit, static_cast<void*>(&base));
    words = reinterpret_cast<Word*>((reinterpret_cast<std::uintptr_t>(base) + 127) / 128 * 128);
  }
  if (!share) return 0;
  constexpr int rounds = 100;
  PMPI_Barrier(MPI_COMM_WORLD);
  double result = 0;
  if (run.rank < 2) {
    const std::int64_t start = now_ns();
    for (int i = 0; i < rounds; ++i) {
      ++number;
      if (run.rank == 0) words[0].value.store(number, std::memory_order_release);
      while (words[run.rank == 0 ? 1 : 0].value.load(std::memory_order_acquire) < number) {
      }
      if (run.rank == 1) words[1].value.store(number, std::memory_order_release);
    }
    result = static_cast<double>(now_ns() - start) / (2 * rounds);
  }
  PMPI_Barrier(MPI_COMM_WORLD);
  return result;
}

std::size_t page_offset_bytes = 16;

}  // namespace

void place_buffers(std::size_t offset_bytes) { page_offset_bytes = offset_bytes; }

Memory buffer(std::size_t bytes) {
  const std::size_t whole = (bytes + page_offset_bytes + 4095) / 4096 * 4096 + 4096;
  char* begin = static_cast<char*>(std::aligned_alloc(4096, whole));
  std::memset(begin, 0, whole);
  return {begin + page_offset_bytes, bytes};
}

void release(const Memory& memory) { std::free(memory.begin - page_offset_bytes); }

std::vector<std::size_t> sizes_of(const Run& run, std::initializer_list<std::size_t> all) {
  std::vector<std::size_t> sizes;
  for (std::size_t i = 0; i < all.size(); i += run.few_sizes ? 2 : 1) sizes.push_back(all.begin()[i]);
  return sizes;
}

void measure(const Run& run, const Point& point) {
  if (!run.wants(point)) return;
  std::array<double, 2> us{};
  double us_each = 0;
  for (const bool ours : {true, false}) {
    us[ours] = of_all(run, time_of(run, point, ours, 2));
    const long most = ours ? calls_before : calls_before / 20;
    long before = std::clamp(static_cast<long>(run.most_before_us / std::max(us[ours], 0.01)), 2L, most);
    PMPI_Bcast(&before, 1, MPI_LONG, 0, MPI_COMM_WORLD);
    const std::int64_t start = now_ns();
    us[ours] = of_all(run, time_of(run, point, ours, before));
    us_each += static_cast<double>(now_ns() - start) / 1e3 / static_cast<double>(before);
  }
  // Both sides make as many calls in a turn: what the slower one makes in its time.
  const long calls = std::clamp(static_cast<long>(run.turn_us / std::max({us[0], us[1], 0.005})), 3L, 100'000L);
  Pace pace = run.rank == 0 ? run.pace({run.turns, calls}, us_each) : Pace{};
  PMPI_Bcast(&pace.turns, 1, MPI_INT, 0, MPI_COMM_WORLD);
  PMPI_Bcast(&pace.calls, 1, MPI_LONG, 0, MPI_COMM_WORLD);
  std::vector<Turn> turns;
  for (int turn = 0; turn < pace.turns; ++turn) {
    const double line = line_ns(run);
    std::array<Sent, 2> sent{};
    const Sent none = run.sent ? sent_by(run, [] { PMPI_Barrier(MPI_COMM_WORLD); }) : Sent{};
    for (int second = 0; second < 2; ++second) {
      const bool ours = (turn + second) % 2 == 0;
      double own_us = 0;
      sent[ours] = of_one(sent_by(run, [&] { own_us = time_of(run, point, ours, pace.calls); }), none, pace.calls);
      us[ours] = of_all(run, own_us);
    }
    turns.push_back({us[1], us[0], line, sent[1], sent[0]});
  }
  if (run.rank == 0) run.report(point, turns);
}

}  // namespace turns
