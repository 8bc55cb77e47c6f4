// turns KIND MODE TURNS TURN_US: see turns.h, and run.py, which makes tables of what this prints.
#include "turns.h"

#include <mpi.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace turns {
namespace {

constexpr std::int64_t most_apart_ns = 5000;
// So many calls of ours before the first turn: ranks have agreed, and what is decided after a number of calls is
// decided.
constexpr long calls_before = 200;
constexpr double most_before_us = 100'000;

std::int64_t now_ns() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

void evict(const Memory& memory) {
#if defined(__x86_64__)
  for (std::size_t i = 0; i < memory.bytes; i += 64) __builtin_ia32_clflush(memory.begin + i);
#else
  // Larger than any cache that we know; what was in there before is gone.
  static const Memory other = buffer(std::size_t{512} << 20);
  for (std::size_t i = 0; i < other.bytes; i += 64) ++other.begin[i];
  (void)memory;
#endif
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

// One way of a message of one byte between ranks 0 and 1 through the host says little of the line itself; this is the
// line: two words that both map.
struct alignas(128) Word {
  std::atomic<std::uint64_t> value;
};

double line_ns(const Run& run) {
  static Word* words = nullptr;
  static std::uint64_t number = 0;
  static int share = -1;  // whether they do: they may be on two nodes
  if (run.ranks < 2) return 0;
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
    PMPI_Win_allocate_shared(here[0] == run.rank ? 3 * sizeof(Word) : 0, 1, MPI_INFO_NULL, node, &base, &window);
    PMPI_Win_shared_query(window, 0, &size, &unit, &base);
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

void measure(const Run& run, const Point& point) {
  // Both sides make as many calls in a turn: what the slower one makes in its time.
  std::array<double, 2> us{};
  long before = 10;
  for (const bool ours : {true, false}) {
    us[ours] = of_all(run, time_of(run, point, ours, 3));
    const long wanted = std::clamp(static_cast<long>(most_before_us / std::max(us[ours], 0.01)), 3L, calls_before);
    before = ours ? wanted : 10;
    PMPI_Bcast(&before, 1, MPI_LONG, 0, MPI_COMM_WORLD);
    us[ours] = of_all(run, time_of(run, point, ours, before));
  }
  long calls = std::clamp(static_cast<long>(run.turn_us / std::max({us[0], us[1], 0.005})), 3L, 100'000L);
  PMPI_Bcast(&calls, 1, MPI_LONG, 0, MPI_COMM_WORLD);
  for (int turn = 0; turn < run.turns; ++turn) {
    const double line = line_ns(run);
    for (int second = 0; second < 2; ++second) {
      const bool ours = (turn + second) % 2 == 0;
      us[ours] = of_all(run, time_of(run, point, ours, calls));
    }
    if (run.rank == 0)
      std::printf("%s %s %zu %d %.5f %.5f %.0f\n", point.kind.c_str(), point.name.c_str(), point.bytes, turn, us[1],
                  us[0], line);
  }
  if (run.rank == 0) std::fflush(stdout);
}

}  // namespace turns

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  turns::Run run{};
  MPI_Comm_rank(MPI_COMM_WORLD, &run.rank);
  MPI_Comm_size(MPI_COMM_WORLD, &run.ranks);
  const std::string kind = argc > 1 ? argv[1] : "", mode = argc > 2 ? argv[2] : "hot";
  run.mode = mode == "cold" ? turns::Mode::cold : mode == "apart" ? turns::Mode::apart : turns::Mode::hot;
  run.turns = argc > 3 ? std::atoi(argv[3]) : 11;
  run.turn_us = argc > 4 ? std::atof(argv[4]) : 1000;
  if (argc > 5) turns::place_buffers(static_cast<std::size_t>(std::atol(argv[5])));
  if (kind == "reduce_local")
    turns::reduce_local(run);
  else if (kind == "pack")
    turns::pack(run);
  else if (kind == "messages")
    turns::messages(run);
  else if (kind == "collectives")
    turns::collectives(run);
  else if (kind == "nonblocking")
    turns::nonblocking(run);
  else if (kind == "rare")
    turns::rare(run);
  else
    std::fprintf(stderr, "turns: no kind '%s'\n", kind.c_str());
  MPI_Finalize();
}
