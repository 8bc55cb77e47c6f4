#include "tools/bench/rank/budget.h"

#include <algorithm>
#include <cmath>

namespace millrace::tools {
namespace {

// Points differ: many take less than an equal share, so each may have a little more.
constexpr double more_than_equal = 1.5;
constexpr int least_turns = 5;
// A point that would take more than so many shares is left out, so that others are not.
constexpr double most_shares = 4;
// Ranks that meet take time, too, whatever they do then: much on a machine that is busy. So many shares a point are too
// many on average over about so many of them.
constexpr double too_many_shares = 2;
constexpr double averaged_points = 16;
// Multiples of it, without their whole part, are evenly spread, and so is any choice of them: no size of all calls is
// left out.
constexpr double golden_ratio = 0.6180339887498949;

}  // namespace

bool Budget::begins(std::int64_t now_ns) {
  if (begun_ns_ != 0) took_us_ += (static_cast<double>(now_ns - begun_ns_) / 1e3 - took_us_) / averaged_points;
  begun_ns_ = 0;
  const double left_us = static_cast<double>(end_ns_ - now_ns) / 1e3;
  const auto points = static_cast<double>(std::max<std::size_t>(points_left_, 1));
  share_us_ = more_than_equal * left_us / points;
  if (points_left_ > 0) --points_left_;
  if (left_us <= 0) return false;
  // The last ones take what there is.
  if (points > averaged_points && took_us_ > too_many_shares * share_us_ &&
      std::fmod(points * golden_ratio, 1) >= left_us / (points * took_us_))
    return false;
  begun_ns_ = now_ns;
  return true;
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
