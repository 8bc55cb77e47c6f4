// What `millrace bench` runs on each rank: an object for each ABI, millrace-bench-openmpi.so and so on, beside the
// preloads. It is loaded once the preload and the host are there, whose functions it calls under both their names.
//
// Rank 0 prints lines that begin with bench_mark:
//   host VERSION        the first line of what MPI_Get_library_version says
//   ranks N, nodes N
//   points N            are measured in this pass; the second is of those that looked slower in the first
//   point PASS KIND MODE NAME BYTES [OURS:HOST ...]     microseconds of each turn; none: there was no time for it
//   done
//   complaint TEXT      why there is nothing
#pragma once

namespace millrace::tools {

inline constexpr const char* bench_mark = "millrace-bench ";

struct BenchOrder {
  const char* sections;  // "reduce_local hot,collectives cold": kinds of tools/bench/turns/turns.h and modes
  int turns;
  double turn_us;
  double most_before_us;
  double seconds;  // that all takes, about
  bool few_sizes;
};

using BenchFunction = int (*)(const BenchOrder*);
inline constexpr const char* bench_function = "millrace_bench";

}  // namespace millrace::tools
