// Decides how a program is run, and runs it in place of the launcher.
#pragma once

#include <string>

#include "tools/command_line.h"
#include "tools/environment.h"
#include "tools/host.h"

namespace millrace::tools {

struct Plan {
  std::string program;    // the file that execvp would take
  std::string binary;     // the same, or the interpreter of a script
  int error = 0;          // why it cannot be run (errno); `notice` names the fix
  bool is_quiet = false;  // nothing to say: MILLRACE=0, or a launcher within a launcher
  Host host;
  std::string preload;     // our library; empty: the program runs without Millrace
  std::string ld_preload;  // the variable's value
  std::string notice;      // one line for standard error, why it runs without Millrace
};

// `command` is the path of this executable.
Plan make_plan(const Request& request, const Environment& environment, const std::string& command);

// Replaces this process. Returns only when that fails, with the exit code a shell would give.
int run(const Plan& plan, const Request& request);

// The exit code of a command that could not be started.
int exit_code_of(int error);

}  // namespace millrace::tools
