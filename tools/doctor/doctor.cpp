#include "tools/doctor/doctor.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <nlohmann/json.hpp>
#include <optional>
#include <string_view>

#include "base/log.h"
#include "record/whole_file.h"
#include "tools/command_app.h"
#include "tools/command_line.h"
#include "tools/doctor/shown.h"
#include "tools/executables.h"
#include "tools/job.h"
#include "tools/launch.h"
#include "tools/learn/launched.h"
#include "tools/learn/program_place.h"
#include "tools/program.h"

namespace millrace::tools {
namespace {

constexpr int no_report = 3, job_fails = 4;

int fail(int code, const std::string& why) {
  log(LogLevel::error, "doctor: " + why);
  return code;
}

// Before a job that may take long.
std::string obstacle_to(const std::string& file) {
  const std::string directory(directory_name(file));
  if (file.empty() || access(directory.c_str(), W_OK) == 0) return {};
  return fmt::format("{} cannot be written: {}; name another file", file, std::strerror(errno));
}

// Why there is no report of a job that ended well, as far as its words tell.
std::string why_no_report(std::vector<std::string> words) {
  const char* const path = std::getenv("PATH");
  const Environment environment(environ);
  for (const std::size_t place : program_places(words, path ? path : "/bin:/usr/bin")) {
    char* program[] = {words[place].data(), nullptr};
    Request request;
    request.program = program;
    const Plan plan = make_plan(request, environment, own_path());
    if (plan.preload.empty() && !plan.notice.empty()) return plan.notice;
  }
  return "the program did not come to MPI_Finalize, or ran where Millrace does not see it: MILLRACE_LOG=info says more";
}

// Of what a program's own `millrace` has written, which need not be of this version.
std::optional<Examined> examined(const Job& job) {
  try {
    return examine(job.reports());
  } catch (const nlohmann::json::exception&) {
    return std::nullopt;
  }
}

int examine_job(const std::vector<std::string>& words, const std::string& file) {
  const Job job(words);
  if (const std::string obstacle = job.obstacle(); !obstacle.empty()) return fail(usage_error, obstacle);
  if (const std::string obstacle = obstacle_to(file); !obstacle.empty()) return fail(usage_error, obstacle);
  const JobRun run = job.run(Millrace::reporting, Streams::shown);
  if (stopped_by() != 0) return 128 + stopped_by();
  const std::string how = fmt::format(
      "the job ended with exit code {}; run it without Millrace to see whether it does so by itself", run.exit_code);
  const std::optional<Examined> found = examined(job);
  if (!found) return fail(no_report, "the report cannot be read: another 'millrace' stands in the job; leave it out");
  Diagnosis diagnosis{words, run.exit_code, *found, {}};
  if (diagnosis.job.arrived() == 0) {
    if (run.exit_code != 0) return fail(job_fails, how + "; it left no report");
    return fail(no_report, "there is no report: " + why_no_report(words));
  }
  diagnosis.findings = all_findings(diagnosis.job, this_node());
  std::fputs(('\n' + as_text(diagnosis)).c_str(), stderr);
  std::string error;
  if (!file.empty() && record::write_whole_file(file, as_json(diagnosis), error) != Status::ok)
    return fail(usage_error, fmt::format("{} cannot be written: {}; name another file", file, error));
  return run.exit_code == 0 ? 0 : fail(job_fails, how);
}

}  // namespace

int doctor_command(char** arguments) {
  char** dashes = arguments;
  while (*dashes && std::string_view(*dashes) != "--") ++dashes;
  std::vector<std::string> words;
  for (char** word = dashes; *dashes && *++word;) words.emplace_back(*word);
  *dashes = nullptr;
  std::string file;
  CommandApp app("Runs a job once and says what Millrace did in it, what not and why, and what to change.",
                 "millrace doctor");
  app.footer(
      "-- mpirun -n 4 ./app ARGS    the program with its launcher, as without Millrace\n\n"
      "What is found goes to standard error, behind what the job prints.\n"
      "Exit codes: 0 the job was looked at; 2 a mistake in these words; 3 the job left no report; 4 the job fails;\n"
      "128 + N ended by signal N. docs/doctor.md explains what is said.");
  app.add_option("--json", file, "write what is found for programs")->type_name("FILE");
  try {
    app.parse(static_cast<int>(dashes - arguments), arguments);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? 0 : usage_error;
  }
  return examine_job(words, file);
}

}  // namespace millrace::tools
