// `millrace info`: what this machine, its MPI and the settings look like to Millrace.
#pragma once

#include <string>

#include "tools/command_line.h"
#include "tools/environment.h"

namespace millrace::tools {

// `request.program` points at the word "info"; `command` is the path of this executable. Returns the exit code.
int run_info(const Request& request, const Environment& environment, const std::string& command);

}  // namespace millrace::tools
