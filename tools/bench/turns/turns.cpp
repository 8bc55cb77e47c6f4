#include "tools/bench/turns/turns.h"

#include <mpi.h>
#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <ctime>

namespace turns {
namespace {

constexpr std::int64_t most_apart_ns = 5000;
// So many calls of ours before the first turn: ranks have agreed, and what is decided after a number of calls is
// decided.
constexpr long calls_before = 300;

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

// Until this rank has had a core for so long; how long it had one. A clock would go on while another rank has the core,
// and that other rank's work would cost nothing.
std::int64_t work(std::int64_t length_ns) {
  const auto processor_ns = [] {
    timespec time{};
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
    return std::int64_t{time.tv_sec} * 1'000'000'000 + time.tv_nsec;
  };
  const std::int64_t begin = processor_ns();
  std::int64_t now = begin;
  while (now - begin < length_ns) now = processor_ns();
  return now - begin;
}

// Where ranks share cores, some may be through before others have begun: then what counts is the time from the first
// begin to the last end. (They are on one node, with one clock.)
bool counts_whole_loop(const Run& run) { return run.mode != Mode::cold && run.shares_cores; }

// Of the calls on this rank.
struct Loop {
  long calls;
  std::int64_t begin_ns, end_ns;
  std::int64_t work_ns;    // that is the rank's own, between calls
  std::int64_t inside_ns;  // in calls
};

Loop loop_of(const Run& run, const Point& point, bool ours, long calls) {
  Loop loop{calls, 0, 0, 0, 0};
  PMPI_Barrier(MPI_COMM_WORLD);
  loop.begin_ns = now_ns();
  if (run.mode == Mode::hot) {
    for (long i = 0; i < calls; ++i) point.call(ours);
    loop.end_ns = now_ns();
    loop.inside_ns = loop.end_ns - loop.begin_ns;
    return loop;
  }
  for (long i = 0; i < calls; ++i) {
    if (run.mode == Mode::cold) {
      for (const Memory& memory : point.touched) evict(memory);
      PMPI_Barrier(MPI_COMM_WORLD);  // nobody's call is timed while another still evicts
    } else if (run.shares_cores) {
      loop.work_ns += work(lateness_ns(run.rank, i));
    } else {
      wait_ns(lateness_ns(run.rank, i));
    }
    const std::int64_t start = now_ns();
    point.call(ours);
    loop.inside_ns += now_ns() - start;
  }
  loop.end_ns = now_ns();
  return loop;
}

// Microseconds a call.
double of_all(const Run& run, const Loop& own) {
  const auto us_a_call = [&](std::int64_t ns) {
    return static_cast<double>(ns) / 1e3 / static_cast<double>(own.calls);
  };
  if (counts_whole_loop(run)) {
    const std::int64_t times[3] = {-own.begin_ns, own.end_ns, own.work_ns};
    std::int64_t most[3] = {};
    PMPI_Allreduce(times, most, 3, MPI_INT64_T, MPI_MAX, MPI_COMM_WORLD);
    return us_a_call(most[1] + most[0] - most[2]);
  }
  const double mine = us_a_call(own.inside_ns);
  double all = 0;
  PMPI_Allreduce(&mine, &all, 1, MPI_DOUBLE, run.mode == Mode::apart ? MPI_SUM : MPI_MAX, MPI_COMM_WORLD);
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
  constexpr int rounds = 100, most_looks = 1000;
  PMPI_Barrier(MPI_COMM_WORLD);
  double result = 0;
  if (run.rank < 2) {
    const std::int64_t start = now_ns();
    for (int i = 0; i < rounds; ++i) {
      ++number;
      if (run.rank == 0) words[0].value.store(number, std::memory_order_release);
      const std::atomic<std::uint64_t>& other = words[run.rank == 0 ? 1 : 0].value;
      for (int looks = 0; other.load(std::memory_order_acquire) < number; ++looks)
        if (looks >= most_looks) sched_yield();  // it may wait for this very core, though nobody can tell beforehand
      if (run.rank == 1) words[1].value.store(number, std::memory_order_release);
    }
    result = static_cast<double>(now_ns() - start) / (2 * rounds);
  }
  PMPI_Barrier(MPI_COMM_WORLD);
  return result;
}

std::size_t page_offset_bytes = 16;

}  // namespace

bool ranks_share_cores() {
  MPI_Comm node;
  int ranks = 0, ranks_here = 0;
  PMPI_Comm_size(MPI_COMM_WORLD, &ranks);
  PMPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node);
  PMPI_Comm_size(node, &ranks_here);
  PMPI_Comm_free(&node);
  // Of those that are online, since a launcher may have bound each rank to a core of its own.
  const int shares = ranks_here == ranks && ranks > sysconf(_SC_NPROCESSORS_ONLN) ? 1 : 0;
  int all_share = 0;
  PMPI_Allreduce(&shares, &all_share, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
  return all_share != 0;
}

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
    us[ours] = of_all(run, loop_of(run, point, ours, 2));
    const long most = ours ? calls_before : calls_before / 20;
    long before = std::clamp(static_cast<long>(run.most_before_us / std::max(us[ours], 0.01)), 2L, most);
    PMPI_Bcast(&before, 1, MPI_LONG, 0, MPI_COMM_WORLD);
    const std::int64_t start = now_ns();
    us[ours] = of_all(run, loop_of(run, point, ours, before));
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
      Loop own{};
      sent[ours] = of_one(sent_by(run, [&] { own = loop_of(run, point, ours, pace.calls); }), none, pace.calls);
      us[ours] = of_all(run, own);
    }
    turns.push_back({us[1], us[0], line, sent[1], sent[0]});
  }
  if (run.rank == 0) run.report(point, turns);
}

}  // namespace turns
