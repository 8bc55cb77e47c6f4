// From measurements of a class of layouts to its row of the table (layout_messages.h).
#pragma once

#include <vector>

#include "plan/layout_messages.h"

namespace millrace::plan {

// host / ours at one size: the worst of what was measured there.
struct MeasuredSize {
  std::int64_t bytes;
  double ratio;
};

inline constexpr double least_won = 1.03, least_kept = 0.97;
// Sizes below this are not measured; what is won from here on is ours below as well.
inline constexpr std::int64_t least_measured_bytes = 64;

// The sizes to take: won by 1.03 or more at both ends, none between lost more than 0.03; of several such ranges the one
// that saves most. Without limit where the largest size was won. `sizes` in rising order.
MessageRange won_range(const std::vector<MeasuredSize>& sizes);

}  // namespace millrace::plan
