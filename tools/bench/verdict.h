// What the turns of one point tell: is ours faster than the host's?
#pragma once

#include <vector>

#include "tools/compare/statistics.h"

namespace millrace::tools {

struct BenchTimes {
  double ours_us, host_us;  // of a call, in one turn
};

// Below, and above its inverse, a ratio counts: two builds of the same code differ by as much.
inline constexpr double bench_bar = 0.97;

struct BenchVerdict {
  Interval ratio;                     // host / ours, over turns
  Interval ours, host;                // us
  Speed speed = Speed::too_few_runs;  // faster, slower: the whole interval is beyond the bar
};

// Not empty.
BenchVerdict judge_turns(const std::vector<BenchTimes>& turns);

}  // namespace millrace::tools
