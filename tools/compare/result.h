// What `millrace compare` has found out, and how it is shown.
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "tools/compare/output.h"
#include "tools/compare/statistics.h"

namespace millrace::tools {

struct SavedCall {
  std::string name;
  std::uint64_t calls = 0, taken = 0;
  std::int64_t saved_ns = 0, error_ns = 0;  // of all ranks
  std::uint64_t saved_calls = 0;            // 0: not measured
};

struct CompareResult {
  std::string command, host, machine;  // host: "" if there is no report
  std::uint64_t ranks = 0;
  std::vector<double> without_seconds, with_seconds;
  std::vector<int> without_codes, with_codes;
  SpeedVerdict speed;
  OutputVerdict output;
  std::vector<SavedCall> calls;  // that were taken, by what they saved; of one run more, which had a report
  std::vector<std::string> warnings;
};

// Out of the reports of one run, one for each node.
std::vector<SavedCall> saved_calls(const std::vector<nlohmann::json>& reports);

// Whether every run with Millrace ended as the ones without.
bool has_same_exit_codes(const CompareResult& result);
// The exit code of the command: docs/compare.md.
int exit_code_of(const CompareResult& result);

// One line each, without an end of line.
std::string speed_in_words(const SpeedVerdict& verdict);
std::string exit_codes_in_words(const CompareResult& result);
// One line or several.
std::vector<std::string> output_in_words(const OutputVerdict& verdict);
std::vector<std::string> calls_in_words(const CompareResult& result);
std::string interval_in_words(const Interval& interval);

std::string as_text(const CompareResult& result);
std::string as_csv(const CompareResult& result);
std::string as_html(const CompareResult& result);  // one page that needs nothing else

}  // namespace millrace::tools
