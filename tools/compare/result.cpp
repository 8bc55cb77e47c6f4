#include "tools/compare/result.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <map>
#include <nlohmann/json.hpp>

#include "tools/doctor/shown.h"

namespace millrace::tools {
namespace {

constexpr int results_differ = 1, is_slower = 3;
constexpr std::size_t most_letters = 66;  // of a line of output: behind "  without: " no more than a terminal has

std::string seconds_text(double seconds) {
  if (seconds < 1) return fmt::format("{:.1f} ms", 1e3 * seconds);
  return seconds < 100 ? fmt::format("{:.3f} s", seconds) : fmt::format("{:.1f} s", seconds);
}

std::string time_text(std::int64_t time_ns) {
  const char* const sign = time_ns < 0 ? "-" : "";
  const auto size = static_cast<double>(std::llabs(time_ns));
  if (size < 1e6) return fmt::format("{}{:.3g} us", sign, size / 1e3);
  return size < 1e9 ? fmt::format("{}{:.3g} ms", sign, size / 1e6) : fmt::format("{}{:.3g} s", sign, size / 1e9);
}

std::string cut(const std::string& line) {
  return line.size() <= most_letters ? line : line.substr(0, most_letters) + "...";
}

}  // namespace

std::vector<SavedCall> saved_calls(const std::vector<nlohmann::json>& reports) {
  std::map<std::string, SavedCall> found;
  for (const nlohmann::json& report : reports)
    for (const nlohmann::json& call : report.value("calls", nlohmann::json::array())) {
      const std::string name = call.value("name", "");
      SavedCall& all = found[name];
      all.name = name;
      all.calls += call.value("calls", std::uint64_t{0});
      all.taken += call.value("taken", std::uint64_t{0});
      const nlohmann::json saved = call.value("saved", nlohmann::json::object());
      all.saved_calls += saved.value("calls", std::uint64_t{0});
      all.saved_ns += saved.value("time_ns", std::int64_t{0});
      all.error_ns += saved.value("error_ns", std::int64_t{0});
    }
  std::vector<SavedCall> calls;
  for (const auto& [name, call] : found)
    if (call.taken != 0) calls.push_back(call);
  std::ranges::stable_sort(calls, [](const SavedCall& one, const SavedCall& other) {
    return std::llabs(one.saved_ns) != std::llabs(other.saved_ns)
               ? std::llabs(one.saved_ns) > std::llabs(other.saved_ns)
               : one.taken > other.taken;
  });
  return calls;
}

bool has_same_exit_codes(const CompareResult& result) {
  std::vector<int> without = result.without_codes, with = result.with_codes;
  for (std::vector<int>* codes : {&without, &with}) {
    std::ranges::sort(*codes);
    codes->erase(std::ranges::unique(*codes).begin(), codes->end());
  }
  // A job that ends now so, now so, may do so with Millrace as well.
  return std::ranges::includes(without, with);
}

int exit_code_of(const CompareResult& result) {
  const bool differs = result.output.sameness == Sameness::differs || !has_same_exit_codes(result);
  return differs ? results_differ : result.speed.speed == Speed::slower ? is_slower : 0;
}

std::string interval_in_words(const Interval& interval) {
  return fmt::format("{} ({} to {})", seconds_text(interval.median), seconds_text(interval.low),
                     seconds_text(interval.high));
}

std::string speed_in_words(const SpeedVerdict& verdict) {
  const auto range = [](double median, double least, double most) {
    return fmt::format("{:.2f} times (between {:.2f} and {:.2f})", median, least, most);
  };
  switch (verdict.speed) {
    case Speed::faster:
      return "with Millrace the job is faster: " + range(verdict.ratio, verdict.least_ratio, verdict.most_ratio);
    case Speed::slower:
      return "with Millrace the job is slower: " +
             range(1 / verdict.ratio, 1 / verdict.most_ratio, 1 / verdict.least_ratio);
    case Speed::too_few_runs: return "too few runs to tell whether the job is faster: --repeat 5";
    case Speed::no_difference: break;
  }
  return fmt::format("no difference: the intervals of the medians meet (without / with between {:.2f} and {:.2f})",
                     verdict.least_ratio, verdict.most_ratio);
}

std::string exit_codes_in_words(const CompareResult& result) {
  const auto list = [](std::vector<int> codes) {
    std::ranges::sort(codes);
    codes.erase(std::ranges::unique(codes).begin(), codes.end());
    std::string text;
    for (const int code : codes) text += fmt::format("{}{}", text.empty() ? "" : ", ", code);
    return text;
  };
  if (has_same_exit_codes(result)) return fmt::format("the same ({})", list(result.with_codes));
  return fmt::format("{} without Millrace, {} with it", list(result.without_codes), list(result.with_codes));
}

std::vector<std::string> output_in_words(const OutputVerdict& verdict) {
  const std::vector<std::string> both{"  without: " + cut(verdict.without), "  with:    " + cut(verdict.with)};
  const auto with_both = [&](std::string first) {
    std::vector<std::string> lines{std::move(first)};
    lines.insert(lines.end(), both.begin(), both.end());
    return lines;
  };
  switch (verdict.sameness) {
    case Sameness::identical: return {"the same in every run"};
    case Sameness::but_for_numbers:
    case Sameness::reordered: {
      const std::string what =
          verdict.sameness == Sameness::reordered ? "the same lines, not always in the same order" : "the same";
      if (verdict.ignored_numbers == 0) return {what};
      return with_both(fmt::format("{}, but for {} number{} that differ{} without Millrace, too, as in", what,
                                   verdict.ignored_numbers, verdict.ignored_numbers == 1 ? "" : "s",
                                   verdict.ignored_numbers == 1 ? "s" : ""));
    }
    case Sameness::incomparable:
      return {"not compared: it differs between runs without Millrace; --ignore REGEX leaves lines out",
              "  one run: " + cut(verdict.without), "  another: " + cut(verdict.with)};
    case Sameness::differs: break;
  }
  if (!verdict.off_by) return with_both("differs");
  return with_both(fmt::format("differs in a number, by a share of {:.1e}", *verdict.off_by));
}

std::vector<std::string> calls_in_words(const CompareResult& result) {
  if (result.host.empty()) return {"the run with a report wrote none: the program does not come to MPI_Finalize"};
  if (result.calls.empty())
    return {"Millrace did none of the job's calls: its report says why (docs/report.md), millrace --report"};
  std::vector<std::string> lines;
  for (const SavedCall& call : result.calls) {
    std::string line = fmt::format("{}: {} of {} calls", call.name, call.taken, call.calls);
    if (call.saved_calls == 0)
      line += ", what they saved was not measured";
    else if (std::llabs(call.saved_ns) <= 2 * call.error_ns)
      line += fmt::format(", no difference (+- {})", time_text(2 * call.error_ns));
    else
      line += fmt::format(", {} {} (+- {}) in {}", call.saved_ns < 0 ? "lost" : "saved",
                          time_text(std::llabs(call.saved_ns)), time_text(2 * call.error_ns), call.saved_calls);
    lines.push_back(std::move(line));
  }
  return lines;
}

std::string as_text(const CompareResult& result) {
  std::string text = result.command + '\n';
  if (!result.host.empty()) text += fmt::format("{}, {} ranks; ", result.host, result.ranks);
  text += result.machine + "\n\n";
  text += fmt::format("without Millrace  {}  in {} runs\n", interval_in_words(result.speed.without),
                      result.without_seconds.size());
  text += fmt::format("with Millrace     {}  in {} runs\n", interval_in_words(result.speed.with),
                      result.with_seconds.size());
  text += fmt::format("medians; the range holds the median of all such runs with {:.1f} %\n\n",
                      100 * result.speed.with.confidence);
  text += wrapped("", speed_in_words(result.speed));
  text += wrapped("exit codes: ", exit_codes_in_words(result));
  std::string before = "output: ";
  for (const std::string& line : output_in_words(result.output)) {
    text += before + line + '\n';
    before.clear();
  }
  text += "\nwhat calls saved all ranks together, in one run more, which wrote a report:\n";
  for (const std::string& line : calls_in_words(result)) text += wrapped("  ", line);
  for (const std::string& warning : result.warnings) text += '\n' + wrapped("warning: ", warning);
  return text;
}

std::string as_csv(const CompareResult& result) {
  std::string text = "side,run,seconds,exit_code\n";
  for (std::size_t i = 0; i < result.without_seconds.size(); ++i)
    text += fmt::format("without,{},{:.6f},{}\n", i + 1, result.without_seconds[i], result.without_codes[i]);
  for (std::size_t i = 0; i < result.with_seconds.size(); ++i)
    text += fmt::format("with,{},{:.6f},{}\n", i + 1, result.with_seconds[i], result.with_codes[i]);
  return text;
}

}  // namespace millrace::tools
