// millrace: runs an unmodified MPI program with Millrace in front of its MPI library (docs/launcher.md).
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include "base/launcher.h"
#include "base/log.h"
#include "base/settings.h"
#include "tools/bench/bench.h"
#include "tools/check/check.h"
#include "tools/command_line.h"
#include "tools/compare/compare.h"
#include "tools/doctor/doctor.h"
#include "tools/environment.h"
#include "tools/explain.h"
#include "tools/explain_call.h"
#include "tools/explain_type.h"
#include "tools/info/info.h"
#include "tools/launch.h"
#include "tools/learn/learn.h"
#include "tools/preload.h"
#include "tools/program.h"
#include "tools/report/report.h"
#include "tools/simulate/simulate.h"
#include "tools/tune/tune.h"
#include "tools/whole_job.h"

namespace {

using namespace millrace;
using namespace millrace::tools;

// 64 ranks should not say the same thing 64 times; without a launcher there is no rank, and this is the only process.
void say(const Environment& environment, LogLevel level, const std::string& line) {
  if (!line.empty() && rank_from_environment(environment).value_or(0) == 0) log(level, line);
}

}  // namespace

int main(int argument_count, char** arguments) {
  const Environment environment(environ);
  const Request request = parse_command_line(argument_count, arguments);
  set_log_level(request.log ? log_level_of(*request.log) : read_settings(environ).log);
  if (request.action == Action::stop) {
    say(environment, LogLevel::error, request.mistake);
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
  const Plan plan = make_plan(request, environment, own_path());
  if (is_whole_job(request, environment, plan)) setenv(whole_job_variable, std::to_string(getpid()).c_str(), 1);
  if (request.action == Action::explain) {
    std::fputs(explain(plan, request).c_str(), stdout);
    return plan.error ? exit_code_of(plan.error) : 0;
  }
  say(environment, plan.error ? LogLevel::error : LogLevel::warning, plan.notice);
  return run(plan, request);
}
