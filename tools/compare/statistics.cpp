#include "tools/compare/statistics.h"

#include <algorithm>
#include <cmath>

namespace millrace::tools {
namespace {

constexpr std::size_t least_runs = 4;  // below, what does not overlap is chance too often
constexpr double wide = 0.1;

// That the median lies between the k-th shortest and the k-th longest of n: 1 - 2 P(fewer than k of n coins).
double confidence_of(std::size_t n, std::size_t k) {
  double term = std::pow(0.5, static_cast<double>(n)), below = 0;
  for (std::size_t i = 0; i < k; ++i) {
    below += term;
    term *= static_cast<double>(n - i) / static_cast<double>(i + 1);
  }
  return 1 - 2 * below;
}

}  // namespace

Interval median_interval(std::vector<double> values) {
  std::ranges::sort(values);
  const std::size_t n = values.size();
  std::size_t k = 1;
  while (2 * (k + 1) <= n && confidence_of(n, k + 1) >= wanted_confidence) ++k;
  return {(values[(n - 1) / 2] + values[n / 2]) / 2, values[k - 1], values[n - k], std::max(0.0, confidence_of(n, k))};
}

SpeedVerdict judge_speed(const std::vector<double>& without, const std::vector<double>& with) {
  SpeedVerdict verdict;
  verdict.without = median_interval(without);
  verdict.with = median_interval(with);
  const auto ratio = [](double one, double other) { return other > 0 ? one / other : 1.0; };
  verdict.ratio = ratio(verdict.without.median, verdict.with.median);
  verdict.least_ratio = ratio(verdict.without.low, verdict.with.high);
  verdict.most_ratio = ratio(verdict.without.high, verdict.with.low);
  for (const Interval& interval : {verdict.without, verdict.with})
    verdict.is_wide = verdict.is_wide || interval.high - interval.low > wide * interval.median;
  if (std::min(without.size(), with.size()) < least_runs)
    verdict.speed = Speed::too_few_runs;
  else if (verdict.with.high < verdict.without.low)
    verdict.speed = Speed::faster;
  else if (verdict.with.low > verdict.without.high)
    verdict.speed = Speed::slower;
  return verdict;
}

}  // namespace millrace::tools
