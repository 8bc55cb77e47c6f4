// `millrace mpirun -n 64 ./app`: Millrace in front of the launcher, which puts itself in front of every program of the
// job. And how a rank knows that all ranks of its job run with us: what ranks of several nodes go by
// (src/shim/node/job_nodes.h).
#pragma once

#include <string>
#include <vector>

#include "tools/command_line.h"
#include "tools/environment.h"
#include "tools/launch.h"

namespace millrace::tools {

// The launcher's words with `command` and its options in front of every program; empty if `request` names no launcher
// of MPI, or no program behind it. `command` is own_path().
std::vector<std::string> job_words(const Request& request, const Environment& environment, const std::string& command);

// Runs them in place of this process; returns an exit code if that cannot be.
int run_job(std::vector<std::string>& words);

// Whether the program of `plan` is told that all ranks of its job are ours: the option --whole-job says so, or Open
// MPI, which has started one command only, us. A shell never is: what becomes of its ranks is its script's to say.
bool is_whole_job(const Request& request, const Environment& environment, const Plan& plan);

}  // namespace millrace::tools
