#include "threads/load.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <filesystem>

namespace millrace::threads {
namespace {

namespace fs = std::filesystem;
constexpr int most_threads_looked_at = 64;

// The beginning of a small file of /proc, as one read gives it; empty if there is none.
std::string beginning_of(const std::string& path) {
  char text[512];
  const int file = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (file < 0) return {};
  const ssize_t bytes = read(file, text, sizeof text);
  close(file);
  return bytes > 0 ? std::string(text, static_cast<std::size_t>(bytes)) : std::string{};
}

// "17 (name, may hold anything) R 1 ...": the letter after the last parenthesis.
bool is_running(const std::string& stat) {
  const std::size_t name_end = stat.rfind(')');
  return name_end != std::string::npos && name_end + 2 < stat.size() && stat[name_end + 2] == 'R';
}

// "0.20 0.18 0.12 2/80 11206": threads that run or want to, of all. The one who asks is among them.
int running_on_machine(const std::string& root) {
  const std::string text = beginning_of(root + "/proc/loadavg");
  const std::size_t slash = text.find('/');
  if (slash == std::string::npos || slash == 0) return -1;
  const std::size_t blank = text.rfind(' ', slash);
  return blank == std::string::npos ? -1 : std::max(1, std::atoi(text.c_str() + blank + 1));
}

}  // namespace

Load read_load(int caller, const std::vector<int>& workers, int online, const std::string& root) {
  Load load;
  const int running = running_on_machine(root);
  std::error_code error;
  fs::directory_iterator thread(root + "/proc/self/task", error);
  if (error) return load;
  int seen = 0, busy = 0;
  for (const fs::directory_iterator end; thread != end && !error; thread.increment(error)) {
    if (++seen > most_threads_looked_at) {
      load.busy_threads = seen;
      return load;
    }
    const int id = std::atoi(thread->path().filename().c_str());
    if (id == caller || !is_running(beginning_of(thread->path().string() + "/stat"))) continue;
    if (std::find(workers.begin(), workers.end(), id) != workers.end())
      ++load.busy_workers;
    else
      ++busy;
  }
  if (error) return load;
  load.busy_threads = busy;
  if (running > 0 && online > 0) load.idle_processors = std::max(0, online - std::max(1, running - load.busy_workers));
  return load;
}

}  // namespace millrace::threads
