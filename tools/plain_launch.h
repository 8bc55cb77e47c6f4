// What is done for each rank of a job, and so must be quick: a program alone on the command line, no option that has to
// be understood. The same as parse_command_line() and what follows it, without all that they can do beside.
#pragma once

#include <optional>
#include <string>

#include "base/log.h"
#include "tools/command_line.h"
#include "tools/environment.h"

namespace millrace::tools {

// The request of such a command line, `millrace [--whole-job] [--] PROGRAM [ARGS]`. Nothing if it may mean anything
// else: an option, a subcommand, a launcher of MPI.
std::optional<Request> plain_launch(char** arguments);

// The program and its arguments, whatever options of ours stand before it, well or ill; null if there is none, or a
// subcommand.
char** program_behind_options(char** arguments);

// Replaces this process by the program; `command` is own_path(). Returns only when that fails, with the exit code.
int launch_program(const Request& request, const Environment& environment, const std::string& command);

// One line for standard error, of one rank: 64 should not say the same thing 64 times.
void say_once(const Environment& environment, LogLevel level, const std::string& line);

}  // namespace millrace::tools
