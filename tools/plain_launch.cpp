#include "tools/plain_launch.h"

#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <string_view>

#include "base/launcher.h"
#include "base/log.h"
#include "tools/launch.h"
#include "tools/parents.h"
#include "tools/whole_job.h"

namespace millrace::tools {
namespace {

constexpr std::string_view options_that_run_nothing[] = {"--help", "--version", "--explain", "--dry-run"};
constexpr std::string_view options_with_a_word[] = {"--mpi", "--isa", "--disable", "--learn", "--log"};

bool is_subcommand(std::string_view word) {
  return word == "help" || std::ranges::any_of(commands(), [word](const Command& each) { return word == each.name; });
}

}  // namespace

std::optional<Request> plain_launch(char** arguments) {
  char** word = arguments + 1;
  Request request;
  request.action = Action::launch;
  if (*word && std::string_view(*word) == "--whole-job") {
    request.whole_job = true;
    ++word;
  }
  const bool is_separated = *word && std::string_view(*word) == "--";
  if (is_separated) ++word;
  const std::string_view program = *word ? *word : "";
  if (program.empty() || program[0] == '-' || is_mpi_launcher(program)) return std::nullopt;
  if (!is_separated && is_subcommand(program)) return std::nullopt;
  request.program = word;
  return request;
}

char** program_behind_options(char** arguments) {
  char** word = arguments + 1;
  for (; *word && (*word)[0] == '-' && (*word)[1] != '\0'; ++word) {
    const std::string_view option = *word;
    if (option == "--") return word[1] ? word + 1 : nullptr;
    if (std::ranges::count(options_that_run_nothing, option) != 0 || option[1] != '-') return nullptr;
    if (std::ranges::count(options_with_a_word, option) != 0 && word[1]) ++word;
  }
  return *word && !is_subcommand(*word) ? word : nullptr;
}

// Without a launcher there is no rank, and this is the only process.
void say_once(const Environment& environment, LogLevel level, const std::string& line) {
  if (!line.empty() && rank_from_environment(environment).value_or(0) == 0) log(level, line);
}

int launch_program(const Request& request, const Environment& environment, const std::string& command) {
  const Plan plan = make_plan(request, environment, command);
  if (is_whole_job(request, environment, plan)) setenv(whole_job_variable, std::to_string(getpid()).c_str(), 1);
  say_once(environment, plan.error ? LogLevel::error : LogLevel::warning, plan.notice);
  return run(plan, request);
}

}  // namespace millrace::tools
