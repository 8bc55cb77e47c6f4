// How much of the time that is left a point may have.
#pragma once

#include <cstdint>

#include "tools/bench/turns/turns.h"

namespace millrace::tools {

class Budget {
 public:
  Budget(std::int64_t end_ns, std::size_t points) : end_ns_(end_ns), points_left_(points) {}

  // Before each point; false if there is no time for it. Where points take longer than fewer turns can mend, as on a
  // busy machine, some are left out from the first kind to the last.
  bool begins(std::int64_t now_ns);
  // What the calls before the first turn may take, a side.
  double before_us(double most_us) const;
  // No turns: fewer than an interval needs would fit.
  turns::Pace pace(turns::Pace full, double us_each) const;

 private:
  std::int64_t end_ns_;
  std::size_t points_left_;
  double share_us_ = 0;
  std::int64_t begun_ns_ = 0;  // the point before, or 0: it was left out
  double took_us_ = 0;         // the last points, about
};

}  // namespace millrace::tools
