// What a job's reports tell somebody who wants it to be faster. Nothing here is a guess: what a change can be worth is
// the time that is measured and no more, and where the report does not say, that is said.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "tools/doctor/examined.h"

namespace millrace::tools {

struct Finding {
  std::string name;    // for programs: "not_agreed", "ranks_outnumber_processors"
  std::string says;    // what was seen
  std::string change;  // what to do; "": nothing
  // Of the time of all ranks. Nothing: the report does not say.
  std::optional<std::int64_t> at_most_ns;  // that the change can spare
  std::optional<std::int64_t> gain_ns;     // that it was measured to spare, give or take `error_ns`
  std::int64_t error_ns = 0;

  std::int64_t weight_ns() const { return gain_ns ? *gain_ns : at_most_ns.value_or(0); }
  bool has_worth() const { return gain_ns || at_most_ns; }
};

// The node that this command runs on.
struct Here {
  std::string node;
  std::size_t processors = 0;  // that a job started here may use; 0: unknown
};
Here this_node();

// A finding whose worth is below this share of the ranks' time is not shown.
inline constexpr double least_share = 0.01;
bool is_worth_showing(const Finding& finding, const Examined& job);

// How the job was started and set up: how many ranks, where, with which settings.
std::vector<Finding> setup_findings(const Examined& job, const Here& here);
// The setting that keeps a call from us which is left for `reason`: "MILLRACE_COLLECTIVES=never"; "" if none does.
std::string setting_in_the_way(const Examined& job, const std::string& call, const std::string& reason);

// By the reasons for which calls went to the host.
std::vector<Finding> reason_findings(const Examined& job);
// By the times of calls.
std::vector<Finding> time_findings(const Examined& job);

// All of them: first those whose worth is unknown, then by worth.
std::vector<Finding> all_findings(const Examined& job, const Here& here);

}  // namespace millrace::tools
