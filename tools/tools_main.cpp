// What `millrace` becomes for all but the plain start of a program: its options, subcommands, launchers of MPI.
#include <unistd.h>

#include <cstdio>
#include <string>
#include <vector>

#include "base/log.h"
#include "base/settings.h"
#include "tools/bench/bench.h"
#include "tools/check/check.h"
#include "tools/command_line.h"
#include "tools/compare/compare.h"
#include "tools/doctor/doctor.h"
#include "tools/environment.h"
#include "tools/executables.h"
#include "tools/explain.h"
#include "tools/explain_call.h"
#include "tools/explain_type.h"
#include "tools/info/info.h"
#include "tools/launch.h"
#include "tools/learn/learn.h"
#include "tools/plain_launch.h"
#include "tools/preload.h"
#include "tools/report/report.h"
#include "tools/simulate/simulate.h"
#include "tools/tune/tune.h"
#include "tools/whole_job.h"

using namespace millrace;
using namespace millrace::tools;

int main(int argument_count, char** arguments) {
  const Environment environment(environ);
  const Request request = parse_command_line(argument_count, arguments);
  set_log_level(request.log ? log_level_of(*request.log) : read_settings(environ).log);
  if (request.action == Action::stop) {
    say_once(environment, LogLevel::error, request.mistake);
    return request.exit_code;
  }
  if (request.action == Action::check) return check_command(request.program, own_path(), request.mpi);
  if (request.action == Action::explain_type) return explain_type_command(request.program);
  if (request.action == Action::explain_call) return explain_call_command(request.program, request.mpi);
  if (request.action == Action::simulate) return simulate_command(request.program);
  if (request.action == Action::tune) return tune_command(request.program);
  if (request.action == Action::learn) return learn_command(request.program);
  if (request.action == Action::preload) return preload_command(request.program, environment, own_path(), request.mpi);
  if (request.action == Action::compare) return compare_command(request.program);
  if (request.action == Action::bench) return bench_command(request.program, request.mpi);
  if (request.action == Action::doctor) return doctor_command(request.program);
  if (request.action == Action::report) return report_command(request.program);
  if (request.action == Action::info) return run_info(request, environment, own_path());
  if (std::vector<std::string> words = job_words(request, environment, own_path()); !words.empty()) {
    if (request.action == Action::launch) return run_job(words);
    std::fputs(explain_words(words).c_str(), stdout);
    return 0;
  }
  if (request.action == Action::launch) return launch_program(request, environment, own_path());
  const Plan plan = make_plan(request, environment, own_path());
  std::fputs(explain(plan, request).c_str(), stdout);
  return plan.error ? exit_code_of(plan.error) : 0;
}
