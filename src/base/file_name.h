// Names of files in settings, with what is known only where the program runs: "run.%j.%h.json".
//
//   %h  the node's name         %p  the number of the process
//   %j  the job                 %%  a percent sign
//
// The job is what the batch system calls it, else what the launcher does, else the process that started this one. What
// a name must not hold is replaced by '_'.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace millrace {

// What stands behind the first percent sign that means nothing, with it: "%x"; nothing if all mean something.
std::optional<std::string> unknown_percent(std::string_view pattern);

// Whether `pattern` has this letter behind a percent sign.
bool names_by(std::string_view pattern, char letter);

// `pattern` for this process, as it is now.
std::string file_name_of(std::string_view pattern);

// A text that stands for itself in a pattern.
std::string literal_name(std::string_view text);

// For tests: `variable` gives the environment.
std::string job_name(const char* (*variable)(const char*));

std::string node_name();  // of this machine, "node" if it has none

}  // namespace millrace
