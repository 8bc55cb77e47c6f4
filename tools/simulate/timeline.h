// What a simulation came to, for people.
#pragma once

#include <string>

#include "model/simulation.h"

namespace millrace::tools {

// A line for each rank: when it came, for how long it waited, for whom most, when it left. `all_events`: each of them.
std::string timeline_text(const model::Answer& answer, bool all_events);
// A row for each rank, in time from left to right.
std::string timeline_svg(const model::Answer& answer, const std::string& title);

}  // namespace millrace::tools
