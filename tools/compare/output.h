// Whether a job prints the same with Millrace and without it, although programs print times.
#pragma once

#include <optional>
#include <regex>
#include <string>
#include <string_view>
#include <vector>

namespace millrace::tools {

struct OutputRules {
  std::optional<std::regex> ignored;  // lines in which this is found are left out
  double tolerance = 0;               // numbers may differ by this share of the larger one
};

enum class Sameness {
  identical,        // in every run
  but_for_numbers,  // those that differ between runs without Millrace, too, are ignored
  reordered,        // lines come in another order, as they do without Millrace
  differs,
  incomparable,  // runs without Millrace differ from each other in more than numbers and order
};

struct OutputVerdict {
  Sameness sameness = Sameness::identical;
  std::size_t ignored_numbers = 0;
  // Of ignored numbers, or of the first difference: a line without Millrace, and with it.
  std::string without, with;
  std::optional<double> off_by;  // of the first difference in a number: its share of the larger one
};

// A number counts as one that differs by itself only if it did so among the runs without Millrace, of which there must
// be two.
OutputVerdict compare_outputs(const std::vector<std::string>& without, const std::vector<std::string>& with,
                              const OutputRules& rules);

}  // namespace millrace::tools
