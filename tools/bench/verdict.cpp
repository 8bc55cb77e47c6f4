#include "tools/bench/verdict.h"

namespace millrace::tools {
namespace {

constexpr std::size_t least_turns = 5;

template <class Value>
Interval interval_of(const std::vector<BenchTimes>& turns, Value value) {
  std::vector<double> values;
  values.reserve(turns.size());
  for (const BenchTimes& turn : turns) values.push_back(value(turn));
  return median_interval(std::move(values));
}

}  // namespace

BenchVerdict judge_turns(const std::vector<BenchTimes>& turns) {
  BenchVerdict verdict;
  // Of each turn by itself: what slows the machine for a while slows both sides of it.
  verdict.ratio =
      interval_of(turns, [](const BenchTimes& turn) { return turn.ours_us > 0 ? turn.host_us / turn.ours_us : 1.0; });
  verdict.ours = interval_of(turns, [](const BenchTimes& turn) { return turn.ours_us; });
  verdict.host = interval_of(turns, [](const BenchTimes& turn) { return turn.host_us; });
  if (turns.size() < least_turns)
    verdict.speed = Speed::too_few_runs;
  else if (verdict.ratio.high < bench_bar)
    verdict.speed = Speed::slower;
  else if (verdict.ratio.low > 1 / bench_bar)
    verdict.speed = Speed::faster;
  else
    verdict.speed = Speed::no_difference;
  return verdict;
}

}  // namespace millrace::tools
