#include "tools/check/process.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <ctime>
#include <sstream>
#include <string_view>

#include "base/clock.h"

namespace millrace::tools::check {
namespace {

volatile sig_atomic_t interrupted = 0;

constexpr int grace_ms = 3000;  // for a launcher to end its ranks, when it is told to

void interrupt(int signal) { interrupted = signal; }

double now_seconds() { return static_cast<double>(monotonic_ns()) * 1e-9; }

std::vector<char*> pointers(const std::vector<std::string>& words) {
  std::vector<char*> result;
  result.reserve(words.size() + 1);
  for (const std::string& word : words) result.push_back(const_cast<char*>(word.c_str()));
  result.push_back(nullptr);
  return result;
}

std::vector<std::string> environment_of(const Command& command) {
  std::vector<std::string> result;
  for (char** entry = environ; *entry; ++entry) {
    const std::string_view variable = std::string_view(*entry).substr(0, std::string_view(*entry).find('='));
    bool is_replaced = variable.starts_with("MILLRACE");
    for (const auto& [name, value] : command.environment) is_replaced = is_replaced || variable == name;
    if (!is_replaced) result.emplace_back(*entry);
  }
  for (const auto& [name, value] : command.environment) result.emplace_back(name).append("=").append(value);
  return result;
}

// Adds what is there to read, waiting a little for it; false at the end of the stream.
bool read_some(int descriptor, int timeout_ms, std::string& text) {
  char buffer[4096];
  pollfd waiting{descriptor, POLLIN, 0};
  if (poll(&waiting, 1, timeout_ms) <= 0) return true;
  const ssize_t length = read(descriptor, buffer, sizeof buffer);
  if (length <= 0) return false;
  text.append(buffer, static_cast<std::size_t>(length));
  return true;
}

// Until the child has ended: what it started in the background may keep the stream open for longer. False if it must
// be ended.
bool follow(pid_t child, int descriptor, int timeout_seconds, Finished& finished,
            const std::function<bool(const std::string& output)>& on_output) {
  const double end = now_seconds() + timeout_seconds;
  bool is_open = true, has_ended = false;
  int status = 0;
  while (!has_ended && !interrupted && now_seconds() < end) {
    const std::size_t before = finished.output.size();
    if (is_open) is_open = read_some(descriptor, 50, finished.output);
    if (on_output && finished.output.size() != before && !on_output(finished.output)) return false;
    has_ended = waitpid(child, &status, is_open ? WNOHANG : 0) == child;
  }
  if (!has_ended) return false;
  for (std::size_t before = finished.output.size() + 1; is_open && before != finished.output.size();) {
    before = finished.output.size();
    is_open = read_some(descriptor, 0, finished.output);
  }
  finished.exit_code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  return true;
}

// With all that it has started. A launcher gets the time to do it, for its ranks may be in groups of their own, or on
// other machines.
void end(pid_t child) {
  kill(-child, SIGTERM);
  for (int waited_ms = 0; waited_ms < grace_ms; waited_ms += 20) {
    if (waitpid(child, nullptr, WNOHANG) == child) {
      kill(-child, SIGKILL);  // what is left of the group
      return;
    }
    usleep(20'000);
  }
  kill(-child, SIGKILL);
  waitpid(child, nullptr, 0);
}

}  // namespace

std::string last_line(const std::string& output) {
  std::string last;
  std::istringstream lines(output);
  for (std::string line; std::getline(lines, line);)
    if (line.find_first_not_of(" -\t\r") != std::string::npos) last = line;
  return last.empty() ? "it printed nothing" : "it said: " + last;
}

void catch_interrupts() {
  struct sigaction action {};
  action.sa_handler = interrupt;
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) sigaction(signal, &action, nullptr);
}

bool is_interrupted() { return interrupted != 0; }
int interrupted_by() { return interrupted; }

Finished run_to_end(const Command& command, int timeout_seconds,
                    const std::function<bool(const std::string& output)>& on_output) {
  Finished finished;
  std::vector<std::string> environment = environment_of(command);
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) return finished;
  const std::vector<char*> words = pointers(command.words), variables = pointers(environment);
  const pid_t child = fork();
  if (child == 0) {
    setpgid(0, 0);  // so that whatever it starts can be ended with it
    const int null = open("/dev/null", O_RDONLY);
    if (null < 0 || dup2(null, 0) < 0 || dup2(ends[1], 1) < 0 || dup2(ends[1], 2) < 0) _exit(127);
    if (!command.directory.empty() && chdir(command.directory.c_str()) != 0) _exit(127);
    environ = const_cast<char**>(variables.data());
    execvp(words[0], words.data());
    _exit(127);
  }
  close(ends[1]);
  if (child > 0) {
    setpgid(child, child);
    finished.timed_out = !follow(child, ends[0], timeout_seconds, finished, on_output);
    if (finished.timed_out) end(child);
  }
  close(ends[0]);
  return finished;
}

}  // namespace millrace::tools::check
