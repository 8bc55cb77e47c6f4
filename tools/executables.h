// The two executables of the command `millrace`: a small one that starts programs, as often as there are ranks, and one
// beside the preloads with all the rest, which the first becomes where it is asked for more.
#pragma once

#include <string>

namespace millrace::tools {

inline constexpr const char* tools_name = "millrace-tools";

// The path of `millrace`, whichever of the two this process is.
std::string own_path();

// Replaces this process, which is `command`, by the one with all the rest. Where that is not there, one line on
// standard error names the fix, and a program on the command line runs without Millrace. Returns only when nothing
// could be run, with the exit code.
int become_tools(const std::string& command, char** arguments);

}  // namespace millrace::tools
