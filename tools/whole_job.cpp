#include "tools/whole_job.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <string_view>

#include "base/log.h"
#include "base/settings.h"
#include "tools/learn/launched.h"
#include "tools/learn/program_place.h"
#include "tools/parents.h"
#include "tools/program.h"

namespace millrace::tools {
namespace {

constexpr std::string_view shells[] = {"sh", "bash", "dash", "ash", "ksh", "mksh", "zsh", "csh", "tcsh", "fish"};

bool is_shell(std::string_view binary) {
  return std::find(std::begin(shells), std::end(shells), base_name(binary)) != std::end(shells);
}

// Of ours, as they go before every program: those of other nodes see no variables of this process.
std::vector<std::string> options_of(const Request& request) {
  std::vector<std::string> words;
  const std::pair<const std::optional<std::string>&, const char*> given[] = {
      {request.mpi, "--mpi"},       {request.isa, "--isa"},     {request.disable, "--disable"},
      {request.report, "--report"}, {request.learn, "--learn"}, {request.log, "--log"}};
  for (const auto& [value, option] : given)
    if (value) words.push_back(fmt::format("{}={}", option, *value));
  return words;
}

// Whether the program at a place of the words will run with a preload, as far as can be seen from here.
bool will_be_ours(Request request, const Environment& environment, std::string& program, const std::string& command) {
  char* words[] = {program.data(), nullptr};
  request.program = words;
  const Plan plan = make_plan(request, environment, command);
  return !plan.preload.empty() && !is_shell(plan.binary);
}

}  // namespace

std::vector<std::string> job_words(const Request& request, const Environment& environment, const std::string& command) {
  if (!*request.program || !is_mpi_launcher(request.program[0])) return {};
  if (!read_settings(environment.entries()).enabled) return {};
  std::vector<std::string> words;
  for (char** word = request.program; *word; ++word) words.emplace_back(*word);
  bool all_are_ours = true;
  for (const std::size_t place : program_places(words, environment.get("PATH").value_or("/bin:/usr/bin"))) {
    std::string program = words[place];
    // Who has written millrace there may have written options of it, too.
    all_are_ours =
        all_are_ours && base_name(program) != "millrace" && will_be_ours(request, environment, program, command);
  }
  std::vector<std::string> before = options_of(request);
  before.insert(before.begin(), command);
  if (all_are_ours) before.emplace_back("--whole-job");
  return in_front_of_programs(words, before);
}

int run_job(std::vector<std::string>& words) {
  std::vector<char*> pointers;
  pointers.reserve(words.size() + 1);
  for (std::string& word : words) pointers.push_back(word.data());
  pointers.push_back(nullptr);
  execvp(pointers[0], pointers.data());
  const int error = errno;
  log(LogLevel::error, fmt::format("{}: {}", words[0], std::strerror(error)));
  return exit_code_of(error);
}

bool is_whole_job(const Request& request, const Environment& environment, const Plan& plan) {
  if (plan.preload.empty() || is_shell(plan.binary)) return false;
  if (request.whole_job) return true;
  // Of a job around this one, which another launcher has started this process in, its variables are there, too.
  return environment.get("OMPI_NUM_APP_CTX") == "1" &&
         base_name(environment.get("OMPI_COMMAND").value_or("")) == "millrace" && launcher_above().abi == Abi::openmpi;
}

}  // namespace millrace::tools
