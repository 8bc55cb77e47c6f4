// Collectives of one host within one process that runs under Millrace, in turns: MPI_ (ours, where it takes the call)
// and PMPI_ (the host's own). Every sample carries the time of a cache line between ranks 0 and 1, measured beside it.
//
// Arguments: turns, target_us per sample, largest bytes, kinds (a string of b B r a, and of those that only move data:
// A alltoall, G allgather, g gather, s scatter, V alltoallv, W neighbor_alltoallw on a ring), modes (h hot, c cold, o
// rotating root, w window; v: like h, with every other double as the data), factor from one size to the next. Prints
// one line per sample:
//   collective bytes mode side turn us line_ns
// us: the mean time of a call on the slowest rank; in mode w, each call starts at a moment agreed by clock and us is
// the median of (last end - common start). Sides: ours, host, and as limits: flags (a barrier of bare flags, 2 ranks),
// memcpy.
#include <mpi.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

namespace {

int rank, ranks;
MPI_Comm comm;

std::int64_t now_ns() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

struct alignas(128) Flag {
  std::atomic<std::uint64_t> value;
};
Flag* flags;  // one per rank, shared
std::uint64_t flag_number = 0;

void pause() { __builtin_ia32_pause(); }

// The least that a barrier of two ranks can cost: each writes one line and reads the other's.
void flag_barrier() {
  ++flag_number;
  flags[rank].value.store(flag_number, std::memory_order_release);
  while (flags[1 - rank].value.load(std::memory_order_acquire) < flag_number) pause();
}

// One way of a cache line between ranks 0 and 1, in ns; 0 where there are more ranks than two.
double line_ns() {
  if (ranks != 2) return 0;
  constexpr int rounds = 200;
  PMPI_Barrier(comm);
  const std::int64_t start = now_ns();
  for (int i = 0; i < rounds; ++i) {
    if (rank == 0) {
      flags[2].value.store(++flag_number, std::memory_order_release);
      while (flags[3].value.load(std::memory_order_acquire) < flag_number) pause();
    } else {
      ++flag_number;
      while (flags[2].value.load(std::memory_order_acquire) < flag_number) pause();
      flags[3].value.store(flag_number, std::memory_order_release);
    }
  }
  return static_cast<double>(now_ns() - start) / (2 * rounds);
}

struct Point {
  char kind;  // see above
  std::size_t bytes;
  char mode;  // h one buffer, c rotating buffers, o rotating root, w window, v one buffer with gaps
};

constexpr std::size_t pool_bytes = std::size_t{96} << 20;
char *in_pool, *out_pool;

struct Buffers {
  char* in;
  char* out;
};

// Cold: each call uses the next buffers of a pool that is larger than the caches of a core.
Buffers buffers_of(const Point& point, long call) {
  if (point.mode != 'c') return {in_pool, out_pool};
  const std::size_t stride = (point.bytes + 4095) / 4096 * 4096 + 4096;
  const std::size_t places = pool_bytes / stride;
  const std::size_t offset = (static_cast<std::size_t>(call) * 7 % places) * stride;
  return {in_pool + offset, out_pool + offset};
}

MPI_Comm ring;

// Blocks of `bytes` for each rank, one behind the other, as doubles in a row or with gaps between them.
void one_exchange(const Point& point, bool ours, long call) {
  const Buffers at = buffers_of(point, call);
  const int root = point.mode == 'o' ? static_cast<int>(call % ranks) : 0;
  const int count = static_cast<int>(point.bytes / 8);
  static MPI_Datatype spread = MPI_DATATYPE_NULL;
  if (point.mode == 'v' && spread == MPI_DATATYPE_NULL) {
    MPI_Type_create_resized(MPI_DOUBLE, 0, 16, &spread);
    MPI_Type_commit(&spread);
  }
  const MPI_Datatype type = point.mode == 'v' ? spread : MPI_DOUBLE;
  std::array<int, 64> counts, places;
  std::array<MPI_Aint, 64> bytes;
  std::array<MPI_Datatype, 64> types;
  for (std::size_t i = 0; i < 64; ++i) {
    counts[i] = count;
    places[i] = static_cast<int>(i) * count;
    bytes[i] = static_cast<MPI_Aint>(i * point.bytes * (point.mode == 'v' ? 2 : 1));
    types[i] = type;
  }
  switch (point.kind) {
    case 'A': (ours ? MPI_Alltoall : PMPI_Alltoall)(at.in, count, type, at.out, count, type, comm); break;
    case 'G': (ours ? MPI_Allgather : PMPI_Allgather)(at.in, count, type, at.out, count, type, comm); break;
    case 'g': (ours ? MPI_Gather : PMPI_Gather)(at.in, count, type, at.out, count, type, root, comm); break;
    case 's': (ours ? MPI_Scatter : PMPI_Scatter)(at.in, count, type, at.out, count, type, root, comm); break;
    case 'V':
      (ours ? MPI_Alltoallv : PMPI_Alltoallv)(at.in, counts.data(), places.data(), type, at.out, counts.data(),
                                              places.data(), type, comm);
      break;
    default:
      (ours ? MPI_Neighbor_alltoallw : PMPI_Neighbor_alltoallw)(
          at.in, counts.data(), bytes.data(), types.data(), at.out, counts.data(), bytes.data(), types.data(), ring);
      break;
  }
}

void one_call(const Point& point, bool ours, long call) {
  const Buffers at = buffers_of(point, call);
  const int root = point.mode == 'o' ? static_cast<int>(call % ranks) : 0;
  const int doubles = static_cast<int>(point.bytes / 8);
  const int bytes = static_cast<int>(point.bytes);
  switch (point.kind) {
    case 'b': ours ? MPI_Barrier(comm) : PMPI_Barrier(comm); break;
    case 'B':
      ours ? MPI_Bcast(at.out, bytes, MPI_BYTE, root, comm) : PMPI_Bcast(at.out, bytes, MPI_BYTE, root, comm);
      break;
    case 'r':
      ours ? MPI_Reduce(at.in, at.out, doubles, MPI_DOUBLE, MPI_SUM, root, comm)
           : PMPI_Reduce(at.in, at.out, doubles, MPI_DOUBLE, MPI_SUM, root, comm);
      break;
    case 'a':
      ours ? MPI_Allreduce(at.in, at.out, doubles, MPI_DOUBLE, MPI_SUM, comm)
           : PMPI_Allreduce(at.in, at.out, doubles, MPI_DOUBLE, MPI_SUM, comm);
      break;
    default: one_exchange(point, ours, call); break;
  }
}

double slowest(double own) {
  double result = 0;
  PMPI_Allreduce(&own, &result, 1, MPI_DOUBLE, MPI_MAX, comm);
  return result;
}

// Microseconds a call, back to back.
template <class Call>
double back_to_back(long calls, const Call& call) {
  PMPI_Barrier(comm);
  const std::int64_t start = now_ns();
  for (long i = 0; i < calls; ++i) call(i);
  return slowest(static_cast<double>(now_ns() - start) / 1e3 / static_cast<double>(calls));
}

double windowed(const Point& point, bool ours, long calls, double window_us) {
  std::vector<double> times;
  std::int64_t start = now_ns();
  PMPI_Bcast(&start, 1, MPI_INT64_T, 0, comm);
  for (long i = 0; i < calls; ++i) {
    start += static_cast<std::int64_t>(window_us * 1e3);
    if (now_ns() > start) start = now_ns();
    PMPI_Allreduce(MPI_IN_PLACE, &start, 1, MPI_INT64_T, MPI_MAX, comm);
    start += 20000;
    while (now_ns() < start) {
    }
    one_call(point, ours, i);
    times.push_back(slowest(static_cast<double>(now_ns() - start) / 1e3));
  }
  std::nth_element(times.begin(), times.begin() + static_cast<std::ptrdiff_t>(times.size() / 2), times.end());
  return times[times.size() / 2];
}

double sample(const Point& point, bool ours, double target_us, double& last_us) {
  // As many calls as fill the target, by what the last sample of this side took.
  long calls = last_us > 0 ? static_cast<long>(target_us / last_us) : 3;
  calls = std::clamp(calls, 3L, 100000L);
  PMPI_Bcast(&calls, 1, MPI_LONG, 0, comm);
  const double us = point.mode == 'w' ? windowed(point, ours, std::clamp(calls / 20, 3L, 200L), 2 * last_us)
                                      : back_to_back(calls, [&](long i) { one_call(point, ours, i); });
  last_us = us;
  return us;
}

const char* name_of(char kind) {
  switch (kind) {
    case 'b': return "barrier";
    case 'B': return "bcast";
    case 'r': return "reduce";
    case 'a': return "allreduce";
    case 'A': return "alltoall";
    case 'G': return "allgather";
    case 'g': return "gather";
    case 's': return "scatter";
    case 'V': return "alltoallv";
    default: return "neighbor_alltoallw";
  }
}

void print(const Point& point, const char* side, int turn, double us, double line) {
  if (rank == 0)
    std::printf("%s %zu %c %s %d %.4f %.1f\n", name_of(point.kind), point.bytes, point.mode, side, turn, us, line);
}

void measure(const Point& point, int turns, double target_us) {
  double last_us[2] = {0, 0};
  // Also the calls after which the ranks agree on shared memory.
  for (int i = 0; i < 6; ++i) sample(point, true, i < 5 ? 0 : target_us / 10, last_us[1]);
  sample(point, false, target_us / 10, last_us[0]);
  for (int turn = 0; turn < turns; ++turn) {
    for (int second = 0; second < 2; ++second) {
      const bool ours = (turn + second) % 2 == 0;
      const double line = line_ns();
      print(point, ours ? "ours" : "host", turn, sample(point, ours, target_us, last_us[ours]), line);
    }
    if (point.kind == 'b' && ranks == 2 && point.mode == 'h') {
      const double line = line_ns();
      print(point, "flags", turn, back_to_back(20000, [](long) { flag_barrier(); }), line);
    }
    if (point.kind == 'B' && point.bytes >= 8 && point.mode != 'o' && point.mode != 'w') {
      const double line = line_ns();
      const long calls =
          std::clamp(static_cast<long>(target_us * 1e4 / static_cast<double>(point.bytes + 100)), 3L, 100000L);
      const double us = back_to_back(calls, [&](long i) {
        const Buffers at = buffers_of(point, i);
        std::memcpy(at.out, at.in, point.bytes);
        __asm__ volatile("" : : "r"(at.out) : "memory");
      });
      print(point, "memcpy", turn, us, line);
    }
  }
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_size(comm, &ranks);
  const int around = 1;
  MPI_Cart_create(comm, 1, &ranks, &around, 0, &ring);
  for (int i = 0; i < 8; ++i) MPI_Barrier(comm), MPI_Barrier(ring);
  const int turns = argc > 1 ? std::atoi(argv[1]) : 9;
  const double target_us = argc > 2 ? std::atof(argv[2]) : 2000;
  const std::size_t largest = argc > 3 ? std::strtoull(argv[3], nullptr, 10) : 16 << 20;
  const std::string kinds = argc > 4 ? argv[4] : "bBra";
  const std::string modes = argc > 5 ? argv[5] : "h";
  const std::size_t step = argc > 6 ? std::strtoull(argv[6], nullptr, 10) : 8;

  MPI_Win window;
  void* base = nullptr;
  MPI_Win_allocate_shared(rank == 0 ? static_cast<MPI_Aint>(sizeof(Flag) * (static_cast<std::size_t>(ranks) + 5)) : 0,
                          1, MPI_INFO_NULL, comm, &base, &window);
  MPI_Aint size;
  int unit;
  MPI_Win_shared_query(window, 0, &size, &unit, &base);
  flags = reinterpret_cast<Flag*>((reinterpret_cast<std::uintptr_t>(base) + 127) / 128 * 128);
  in_pool = static_cast<char*>(std::aligned_alloc(4096, pool_bytes));
  out_pool = static_cast<char*>(std::aligned_alloc(4096, pool_bytes));
  std::memset(in_pool, 0, pool_bytes);
  std::memset(out_pool, 0, pool_bytes);
  PMPI_Barrier(comm);

  // A sharing rank takes a page fault or a frequency change at first: not in the first point.
  for (const char mode : modes) {
    for (const char kind : kinds) {
      if (kind == 'b') {
        if (mode == 'h' || mode == 'w') measure({kind, 0, mode}, turns, target_us);
        continue;
      }
      if (kind == 'a' && mode == 'o') continue;
      for (std::size_t bytes = 8; bytes <= largest; bytes *= step) measure({kind, bytes, mode}, turns, target_us);
    }
  }
  MPI_Win_free(&window);
  MPI_Comm_free(&ring);
  MPI_Comm_free(&comm);
  MPI_Finalize();
}
