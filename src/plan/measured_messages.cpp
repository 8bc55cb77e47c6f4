#include "plan/measured_messages.h"

#include <cmath>

namespace millrace::plan {

MessageRange won_range(const std::vector<MeasuredSize>& sizes) {
  MessageRange best;
  double most_saved = 0;
  for (std::size_t first = 0; first < sizes.size(); ++first) {
    if (sizes[first].ratio < least_won) continue;
    double saved = 0;
    for (std::size_t last = first; last < sizes.size() && sizes[last].ratio >= least_kept; ++last) {
      saved += std::log(sizes[last].ratio);
      if (sizes[last].ratio < least_won || saved <= most_saved) continue;
      most_saved = saved;
      best.least_bytes = sizes[first].bytes <= least_measured_bytes ? 1 : sizes[first].bytes;
      best.most_bytes = last + 1 == sizes.size() ? any_size : sizes[last].bytes;
    }
  }
  return best;
}

}  // namespace millrace::plan
