#include "tools/learn/launched.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>

#include "base/log.h"
#include "tools/executables.h"
#include "tools/launch.h"
#include "tools/learn/program_place.h"
#include "tools/program.h"

namespace millrace::tools {
namespace {

volatile sig_atomic_t running = 0;  // the launcher's process
volatile sig_atomic_t stopped = 0;  // a signal that said so

void pass_on(int signal) {
  stopped = signal;
  // One from the keyboard reaches it by itself.
  if (running > 0 && signal != SIGINT) kill(static_cast<pid_t>(running), signal);
}

}  // namespace

int stopped_by() { return stopped; }

int run_to_end(std::vector<std::string>& words, bool silent) {
  std::vector<char*> pointers;
  pointers.reserve(words.size() + 1);
  for (std::string& word : words) pointers.push_back(word.data());
  pointers.push_back(nullptr);
  struct sigaction passing {
  }, standard{}, before{};
  passing.sa_handler = pass_on;
  standard.sa_handler = SIG_DFL;
  sigaction(SIGTERM, &passing, nullptr);
  sigaction(SIGHUP, &passing, nullptr);
  sigaction(SIGINT, &passing, &before);
  const pid_t child = fork();
  if (child == 0) {
    sigaction(SIGINT, &before, nullptr);
    sigaction(SIGTERM, &standard, nullptr);
    sigaction(SIGHUP, &standard, nullptr);
    if (const int nowhere = silent ? open("/dev/null", O_WRONLY | O_CLOEXEC) : -1; nowhere >= 0) {
      dup2(nowhere, STDOUT_FILENO);
      dup2(nowhere, STDERR_FILENO);
    }
    execvp(pointers[0], pointers.data());
    const int error = errno;
    log(LogLevel::error, fmt::format("{}: {}", words[0], std::strerror(error)));
    _exit(exit_code_of(error));
  }
  if (child < 0) {
    log(LogLevel::error, fmt::format("{}: {}", words[0], std::strerror(errno)));
    return exit_code_of(errno);
  }
  running = child;
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) continue;
  running = 0;
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

std::vector<std::string> in_front_of_programs(const std::vector<std::string>& words,
                                              const std::vector<std::string>& before) {
  const char* const path = std::getenv("PATH");
  const auto ours = std::find(before.begin(), before.end(), own_path());
  std::vector<std::string> result;
  auto next = words.begin();
  for (const std::size_t place : program_places(words, path ? path : "/bin:/usr/bin")) {
    const auto program = words.begin() + static_cast<std::ptrdiff_t>(place);
    result.insert(result.end(), next, program);
    const bool is_ours = base_name(*program) == "millrace";
    result.insert(result.end(), before.begin(), ours);
    result.push_back(is_ours ? *program : own_path());
    if (ours != before.end()) result.insert(result.end(), ours + 1, before.end());
    next = program + (is_ours ? 1 : 0);
  }
  if (!result.empty()) result.insert(result.end(), next, words.end());
  return result;
}

}  // namespace millrace::tools
