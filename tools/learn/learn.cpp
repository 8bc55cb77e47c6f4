#include "tools/learn/learn.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "base/log.h"
#include "plan/tuning.h"
#include "tools/command_line.h"
#include "tools/launch.h"
#include "tools/learn/program_place.h"
#include "tools/program.h"
#include "tools/tune/tune.h"

namespace millrace::tools {
namespace {

volatile sig_atomic_t running = 0;  // the launcher's process

void pass_on(int signal) {
  if (running > 0) kill(static_cast<pid_t>(running), signal);
}

// To its end; signals that are meant for it reach it. A signal from the keyboard does so by itself.
int run_to_end(std::vector<std::string>& words) {
  std::vector<char*> pointers;
  pointers.reserve(words.size() + 1);
  for (std::string& word : words) pointers.push_back(word.data());
  pointers.push_back(nullptr);
  struct sigaction passing {
  }, ignoring{}, standard{}, before{};
  passing.sa_handler = pass_on;
  ignoring.sa_handler = SIG_IGN;
  standard.sa_handler = SIG_DFL;
  sigaction(SIGTERM, &passing, nullptr);
  sigaction(SIGHUP, &passing, nullptr);
  sigaction(SIGINT, &ignoring, &before);
  const pid_t child = fork();
  if (child == 0) {
    sigaction(SIGINT, &before, nullptr);
    sigaction(SIGTERM, &standard, nullptr);
    sigaction(SIGHUP, &standard, nullptr);
    execvp(pointers[0], pointers.data());
    const int error = errno;
    log(LogLevel::error, fmt::format("{}: {}", words[0], std::strerror(error)));
    _exit(exit_code_of(error));
  }
  if (child < 0) {
    log(LogLevel::error, fmt::format("learn: {}", std::strerror(errno)));
    return exit_code_of(errno);
  }
  running = child;
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) continue;
  running = 0;
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

// Behind every program's place our own command, which sets what each rank needs; or only the option, where it stands
// there already. Empty: no program was found.
std::vector<std::string> with_learning(const std::vector<std::string>& words, const std::string& option) {
  const char* const path = std::getenv("PATH");
  std::vector<std::string> result;
  std::size_t next = 0;
  for (const std::size_t place : program_places(words, path ? path : "/bin:/usr/bin")) {
    result.insert(result.end(), words.begin() + static_cast<std::ptrdiff_t>(next),
                  words.begin() + static_cast<std::ptrdiff_t>(place));
    const bool is_ours = base_name(words[place]) == "millrace";
    result.push_back(is_ours ? words[place] : own_path());
    result.push_back(option);
    next = place + (is_ours ? 1 : 0);
  }
  if (result.empty()) return result;
  result.insert(result.end(), words.begin() + static_cast<std::ptrdiff_t>(next), words.end());
  return result;
}

// What is known, in figures.
struct Known {
  std::uint64_t trials = 0;
  std::size_t ours = 0, hosts = 0, open = 0;
};
Known known_in(const std::string& path) {
  Known known;
  const plan::Tuning table = plan::parse_tuning(plan::table_text(path), path);
  for (const auto& [place, rows] : table.learned)
    for (const auto& [call, row] : rows) {
      known.trials += row.ratio.trials();
      ++(!row.done_by ? known.open : *row.done_by == plan::Side::host ? known.hosts : known.ours);
    }
  return known;
}

void say_what_was_learned(const std::string& path, const std::string& before) {
  if (plan::table_text(path) == before) {
    std::fprintf(stderr,
                 "millrace learn: nothing: no communicator inside a node made enough collective calls, or the program "
                 "did not come to MPI_Finalize\n");
    return;
  }
  const Known known = known_in(path);
  std::fprintf(stderr, "millrace learn: of %zu classes of calls we do %zu faster, the host %zu, %zu are open: %s\n",
               known.ours + known.hosts + known.open, known.ours, known.hosts, known.open, path.c_str());
}

}  // namespace

int learn_command(char** arguments) {
  char** dashes = arguments;
  while (*dashes && std::string_view(*dashes) != "--") ++dashes;
  std::vector<std::string> words;
  for (char** word = dashes; *dashes && *++word;) words.emplace_back(*word);
  *dashes = nullptr;
  std::string path = plan::standard_tuning_path(environ);
  bool only_shows = false;
  CLI::App app(
      "Runs a program, finds out who does its collectives inside a node faster, the host MPI or Millrace, and "
      "keeps it for later runs.",
      "millrace learn");
  app.footer(
      "-- mpirun -n 4 ./app ARGS    the program with its launcher; write 'millrace' in front of the program "
      "where it is not found\n\n"
      "Later runs on machines of the same kind, with the same MPI and as many ranks choose by what was learned. "
      "Run it several times: runs add up.");
  app.add_option("--out", path, "the table (millrace/tuning.json in XDG_CONFIG_HOME)")->type_name("FILE");
  app.add_flag("--dry-run", only_shows, "print the command that would be run, and stop");
  try {
    app.parse(static_cast<int>(dashes - arguments), arguments);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? 0 : usage_error;
  }
  if (words.empty() || path.empty()) {
    log(LogLevel::error, words.empty() ? "learn: no program after '--': millrace learn -- mpirun -n 4 ./app"
                                       : "learn: no home directory for the table: --out FILE");
    return usage_error;
  }
  // Ranks may run in another directory.
  std::error_code error;
  path = std::filesystem::absolute(path, error).string();
  if (!only_shows) std::filesystem::create_directories(std::filesystem::path(path).parent_path(), error);
  std::vector<std::string> command = with_learning(words, "--learn=" + path);
  if (command.empty()) {
    log(LogLevel::error, "learn: no program among the words after '--'; write 'millrace' in front of it");
    return usage_error;
  }
  if (only_shows) {
    std::printf("%s\n", fmt::format("{}", fmt::join(command, " ")).c_str());
    return 0;
  }
  // Whatever is in the way, the program runs.
  if (const std::string why = plan::learning_obstacle(path); !why.empty()) {
    log(LogLevel::warning,
        fmt::format("learn: {} cannot be written: {}: the program runs, nothing is kept", path, why));
    return run_to_end(words);
  }
  const std::string before = plan::table_text(path);
  const int exit_code = run_to_end(command);
  say_what_was_learned(path, before);
  return exit_code;
}

}  // namespace millrace::tools
