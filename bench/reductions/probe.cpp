// MPI_Reduce_local of one host, four ways in turns within one process that runs under Millrace: MPI_ (our kernel),
// PMPI_ (the host's code), a plain loop compiled for this machine, and memcpy of as many bytes as a limit.
//
//   hot    the same two buffers again and again
//   cold   as many different buffers as make 256 KiB, at least one, every line flushed, each used once
//   fresh  MINLOC and MAXLOC: 16 buffers in turns, each with random values that no call has seen; warm in the
//          second-level cache. (Hot, the result is there after the first call, and every branch is foreseen.)
//
// Prints: kernel bytes mode turns ours_ns host_ns plain_ns memcpy_ns ratio_low ratio ratio_high, the last three the
// quartiles of host / ours by turn.
#include <x86intrin.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "cases.h"

namespace {

using cases::Case;
using cases::Kind;

enum Way { ours, host, plain, copy, ways };
enum class Mode { hot, cold, fresh };
constexpr const char* mode_names[] = {"hot", "cold", "fresh"};
constexpr std::size_t cold_bytes = 256 << 10, fresh_buffers = 16, largest_bytes = 64 << 20;

double now_ns() {
  const auto since = std::chrono::steady_clock::now().time_since_epoch();
  return static_cast<double>(std::chrono::duration_cast<std::chrono::nanoseconds>(since).count());
}

void evict(const char* buffer, std::size_t bytes) {
  for (std::size_t i = 0; i < bytes; i += 64) _mm_clflushopt(const_cast<char*>(buffer) + i);
  _mm_mfence();
}

// 1 or 2, at random, so that about half of the pairs tie; no NaN, no overflow that matters. Elements of `stride` bytes;
// index_at > 0: pairs, with the index there.
template <class T>
void fill_with(char* buffer, std::size_t bytes, std::size_t stride, std::size_t index_at, std::uint64_t seed) {
  std::uint64_t state = seed;
  for (std::size_t i = 0; i + stride <= bytes; i += stride) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    const T value = static_cast<T>(1 + ((state >> 40) & 1));
    std::memcpy(buffer + i, &value, std::min(sizeof value, std::size_t{10}));
    const int index = static_cast<int>((state >> 50) & 1023);
    if (index_at) std::memcpy(buffer + i + index_at, &index, sizeof index);
  }
}
void fill(const Case& what, char* buffer, std::size_t bytes, std::uint64_t seed) {
  const std::size_t element = what.element_bytes;
  switch (what.kind) {
    case Kind::integer: return fill_with<std::int8_t>(buffer, bytes, element, 0, seed);
    case Kind::f32: return fill_with<float>(buffer, bytes, 4, 0, seed);
    case Kind::f64: return fill_with<double>(buffer, bytes, 8, 0, seed);
    case Kind::f80: return fill_with<long double>(buffer, bytes, 16, 0, seed);
    case Kind::pair_i16: return fill_with<short>(buffer, bytes, element, 4, seed);
    case Kind::pair_i32: return fill_with<int>(buffer, bytes, element, 4, seed);
    case Kind::pair_f32: return fill_with<float>(buffer, bytes, element, 4, seed);
    case Kind::pair_i64: return fill_with<long>(buffer, bytes, element, 8, seed);
    case Kind::pair_f64: return fill_with<double>(buffer, bytes, element, 8, seed);
  }
}

struct Memory {
  std::vector<char> in, inout, pristine;
};

class Point {
 public:
  Point(const Case& case_, std::size_t size, Mode mode_, Memory& memory_)
      : what(case_), bytes(size), mode(mode_), memory(memory_), count(static_cast<int>(size / case_.element_bytes)) {
    buffers = mode == Mode::hot     ? 1
              : mode == Mode::fresh ? fresh_buffers
                                    : std::max<std::size_t>(1, cold_bytes / bytes);
    stride = bytes + 4096 + 192;  // not the same place in every page
    if (buffers == 1) stride = bytes;
    std::memset(memory.in.data(), 0, buffers * stride);
    for (std::size_t k = 0; k < buffers; ++k) fill(what, memory.in.data() + k * stride, bytes, k + 1);
    const std::size_t pristine_bytes = std::min(bytes, std::size_t{4} << 20);
    std::memset(memory.pristine.data(), 0, pristine_bytes);
    fill(what, memory.pristine.data(), pristine_bytes, 12345);
  }

  // ns a call, the average of as many as the mode allows.
  double time(Way way, int hot_calls) {
    prepare();
    const double start = now_ns();
    if (mode == Mode::hot) {
      for (int i = 0; i < hot_calls; ++i) call(way, 0);
      return (now_ns() - start) / hot_calls;
    }
    for (std::size_t k = 0; k < buffers; ++k) call(way, k * stride);
    return (now_ns() - start) / static_cast<double>(buffers);
  }

  void measure(int turns) {
    time(ours, 1);
    const double estimate = time(ours, 4);
    const int calls = std::clamp(static_cast<int>(250e3 / std::max(estimate, 10.0)), 1, 4000);
    std::vector<double> times[ways], ratios;
    for (int turn = 0; turn < turns; ++turn) {
      double each[ways];
      // Whoever comes first finds other caches and another clock: the order turns.
      for (int k = 0; k < ways; ++k) {
        const auto way = static_cast<Way>(turn % 2 ? ways - 1 - k : k);
        each[way] = time(way, calls);
      }
      for (int k = 0; k < ways; ++k) times[k].push_back(each[k]);
      ratios.push_back(each[host] / each[ours]);
    }
    std::sort(ratios.begin(), ratios.end());
    std::printf("%s %zu %s %d", what.name.c_str(), bytes, mode_names[static_cast<int>(mode)], turns);
    for (auto& way : times) std::printf(" %.1f", median(way));
    std::printf(" %.3f %.3f %.3f\n", ratios[ratios.size() / 4], ratios[ratios.size() / 2],
                ratios[3 * ratios.size() / 4]);
    std::fflush(stdout);
  }

 private:
  static double median(std::vector<double>& values) {
    std::sort(values.begin(), values.end());
    return values[values.size() / 2];
  }
  void prepare() {
    for (std::size_t k = 0; k < buffers; ++k) {
      char* const inout = memory.inout.data() + k * stride;
      if (mode == Mode::fresh)
        fill(what, inout, bytes, ++seed);
      else
        std::memcpy(inout, memory.pristine.data(), std::min(bytes, std::size_t{4} << 20));
    }
    if (mode == Mode::cold) evict(memory.in.data(), buffers * stride), evict(memory.inout.data(), buffers * stride);
    if (mode == Mode::fresh)
      for (std::size_t i = 0; i < buffers * stride; i += 64) static_cast<volatile char*>(memory.in.data())[i];
  }
  void call(Way way, std::size_t at) {
    char *const in = memory.in.data() + at, *const inout = memory.inout.data() + at;
    if (way == ours) MPI_Reduce_local(in, inout, count, what.type, what.op);
    if (way == host) PMPI_Reduce_local(in, inout, count, what.type, what.op);
    if (way == plain) what.plain(in, inout, static_cast<std::size_t>(count));
    if (way == copy) std::memcpy(inout, in, bytes);
  }

  const Case& what;
  std::size_t bytes;
  Mode mode;
  Memory& memory;
  int count;
  std::size_t buffers, stride;
  std::uint64_t seed = 1000;
};

bool is_pair(const Case& what) { return what.name.find("loc_") != std::string::npos; }

// Where a turn takes long, there are fewer.
int turns_at(std::size_t bytes, Mode mode, int turns) {
  if (bytes < 4 << 20 || (bytes == 4 << 20 && mode == Mode::hot)) return turns;
  return std::max(3, mode == Mode::hot || bytes == 4 << 20 ? turns / 2 : turns / 3);
}

void sweep(const Case& what, int turns, std::size_t largest, Memory& memory) {
  for (const std::size_t kib : {1, 16, 256, 4096, 65536})
    for (const Mode mode : {Mode::hot, Mode::cold, Mode::fresh}) {
      const std::size_t bytes = kib << 10;
      if (bytes > largest || (kib == 65536 && !what.at_64_mib)) continue;
      if (mode == Mode::fresh && (!is_pair(what) || (kib != 16 && kib != 256))) continue;
      Point(what, bytes, mode, memory).measure(turns_at(bytes, mode, turns));
    }
}

Mode mode_by_name(const char* name) { return *name == 'h' ? Mode::hot : *name == 'c' ? Mode::cold : Mode::fresh; }

struct Named {
  std::string kernel;
  std::size_t bytes;
  Mode mode;
};

std::vector<Named> read_points(const char* path) {
  std::vector<Named> points;
  std::FILE* const file = path ? std::fopen(path, "r") : nullptr;
  char name[64], mode[16];
  std::size_t bytes;
  while (file && std::fscanf(file, "%63s %zu %15s", name, &bytes, mode) == 3)
    points.push_back({name, bytes, mode_by_name(mode)});
  if (file) std::fclose(file);
  return points;
}

}  // namespace

// probe TURNS LARGEST           every case, every size up to LARGEST
// probe TURNS again FILE        the points named in FILE, a line each: kernel bytes mode
int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  const int turns = argc > 1 ? std::atoi(argv[1]) : 9;
  const bool again = argc > 2 && !std::strcmp(argv[2], "again");
  const std::vector<Named> points = read_points(again && argc > 3 ? argv[3] : nullptr);
  std::size_t largest = argc > 2 && !again ? std::strtoull(argv[2], nullptr, 10) : 0;
  if (argc <= 2) largest = largest_bytes;
  for (const Named& point : points) largest = std::max(largest, point.bytes);
  Memory memory;
  // Spread out, the buffers of the cold and the fresh mode take more than their bytes.
  const std::size_t reserve = std::max(largest, std::size_t{8} << 20);
  memory.in.resize(reserve), memory.inout.resize(reserve), memory.pristine.resize(4 << 20);
  const cases::List list;
  if (!again)
    for (const Case& what : list.all) sweep(what, turns, largest, memory);
  for (const Named& point : points)
    for (const Case& what : list.all)
      if (what.name == point.kernel)
        Point(what, point.bytes, point.mode, memory).measure(turns_at(point.bytes, point.mode, turns));
  MPI_Finalize();
  return 0;
}
