// Two runs side by side: which calls, and how much.
#pragma once

#include <string>
#include <vector>

#include "tools/report/run.h"

namespace millrace::tools {

struct CallPair {
  std::string name;
  const RunCall* first = nullptr;  // null: that run did not make it
  const RunCall* second = nullptr;
};

// Of all calls of both, those in which either spent most time first.
std::vector<CallPair> pair_calls(const Run& first, const Run& second);

// The mean of the job's ranks, so that jobs of other sizes can be set beside. 0 without a call.
double mean_rank_ns(const Run& run, const RunCall* call);

std::string change_in_words(double first, double second);  // "-12 %", "x 3.4", "new", "gone", "same"

// Lines about what makes the two hard to compare, and the settings in which they differ.
std::vector<std::string> differences(const Run& first, const Run& second);

// What two runs cannot show.
inline constexpr const char* one_run_each =
    "One run each: a small change may be chance. 'millrace compare' repeats a job and says what is not.";

}  // namespace millrace::tools
