#include "tools/bench/rank/budget.h"

#include <algorithm>

namespace millrace::tools {
namespace {

// Points differ: many take less than an equal share, so each may have a little more.
constexpr double more_than_equal = 1.5;
constexpr int least_turns = 5;
// A point that would take more than so many shares is left out, so that others are not.
constexpr double most_shares = 4;

}  // namespace

bool Budget::begins(std::int64_t now_ns) {
  const double left_us = static_cast<double>(end_ns_ - now_ns) / 1e3;
  share_us_ = more_than_equal * left_us / static_cast<double>(std::max<std::size_t>(points_left_, 1));
  if (points_left_ > 0) --points_left_;
  return left_us > 0;
}

double Budget::before_us(double most_us) const { return std::min(most_us, share_us_ / 8); }

turns::Pace Budget::pace(turns::Pace full, double us_each) const {
  const double turn_us = std::max(us_each * static_cast<double>(full.calls), 0.001);
  const double turns = share_us_ / turn_us;
  if (turns >= full.turns) return full;
  if (turns >= least_turns) return {static_cast<int>(turns), full.calls};
  const long calls = std::clamp(static_cast<long>(share_us_ / (least_turns * us_each)), 1L, full.calls);
  if (least_turns * static_cast<double>(calls) * us_each > most_shares * share_us_) return {0, 0};
  return {std::min(least_turns, full.turns), calls};
}

}  // namespace millrace::tools
