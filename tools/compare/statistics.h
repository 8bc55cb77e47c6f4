// What a few runs tell about the time of a job.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

namespace millrace::tools {

// Of the median of all runs that there could be: from the k-th shortest to the k-th longest of those that were, which
// holds it with a known probability whatever the times are distributed like.
struct Interval {
  double median = 0, low = 0, high = 0;
  double confidence = 0;  // of 1
};

// The narrowest with `wanted_confidence` at least; all runs, and less of it, where there are too few. Not empty.
Interval median_interval(std::vector<double> values);

inline constexpr double wanted_confidence = 0.93;  // five runs have 0.9375

enum class Speed { faster, slower, no_difference, too_few_runs };

struct SpeedVerdict {
  Interval without, with;
  Speed speed = Speed::no_difference;  // a difference only where the intervals do not meet
  // Time without / time with; from and to: of the ends of the intervals that are nearest, and furthest.
  double ratio = 1, least_ratio = 1, most_ratio = 1;
  bool is_wide = false;  // an interval is wider than a tenth of its median
};

SpeedVerdict judge_speed(const std::vector<double>& without, const std::vector<double>& with);

}  // namespace millrace::tools
