#include "shared_memory/process.h"

#include <dirent.h>
#include <dlfcn.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>

namespace millrace::shared_memory {
namespace {

struct Stat {
  bool readable;
  char state;
  std::uint64_t start_time, memory_bytes;
};

// Fields 3, 22 and 23 of /proc/PID/stat (proc(5)); the name in field 2 may hold anything, so count from its last ')'.
Stat read_stat(const char* path) {
  char text[1024];
  const int file = open(path, O_RDONLY | O_CLOEXEC);
  if (file < 0) return {};
  const ssize_t length = read(file, text, sizeof text - 1);
  close(file);
  if (length <= 0) return {};
  text[length] = 0;
  const char* at = std::strrchr(text, ')');
  if (!at || at[1] != ' ') return {};
  at += 2;
  const char state = *at;
  for (int field = 3; field < 22; ++field) {
    at = std::strchr(at, ' ');
    if (!at) return {};
    ++at;
  }
  char* after = nullptr;
  const std::uint64_t start_time = std::strtoull(at, &after, 10);
  return {true, state, start_time, std::strtoull(after, nullptr, 10)};
}

Stat read_stat(std::int32_t pid) {
  char path[40] = {};
  fmt::format_to_n(path, sizeof path - 1, "/proc/{}/stat", pid);
  return read_stat(path);
}

bool has_ended(char state) { return state == 'Z' || state == 'X'; }

// The first thread of a process may end before the others (pthread_exit in main), and then looks as if all had.
bool another_thread_lives(std::int32_t pid) {
  char path[80] = {};
  fmt::format_to_n(path, sizeof path - 1, "/proc/{}/task", pid);
  DIR* const threads = opendir(path);
  if (!threads) return false;
  bool lives = false;
  while (const dirent* thread = lives ? nullptr : readdir(threads)) {
    if (thread->d_name[0] == '.') continue;
    *fmt::format_to_n(path, sizeof path - 1, "/proc/{}/task/{}/stat", pid, thread->d_name).out = 0;
    const Stat stat = read_stat(path);
    lives = stat.readable && !has_ended(stat.state);
  }
  closedir(threads);
  return lives;
}

}  // namespace

ProcessIdentity own_identity() {
  ProcessIdentity identity;
  identity.pid = getpid();
  // An emulator (qemu-user) makes up what its program reads there of itself, and others read another time. What it
  // makes up has no memory.
  const Stat own = read_stat(identity.pid);
  identity.start_time = own.memory_bytes != 0 ? own.start_time : 0;
  struct stat space {};
  if (stat("/proc/self/ns/pid", &space) == 0) identity.pid_namespace = space.st_ino;
  return identity;
}

std::uint64_t start_time_of(std::int32_t pid) { return read_stat(pid).start_time; }

bool maybe_alive(const ProcessIdentity& process, const ProcessIdentity& observer) {
  if (process.pid_namespace != observer.pid_namespace || process.pid_namespace == 0 || process.pid <= 0) return true;
  // /proc may hide what lives (hidepid, processes that are not dumpable); a signal that is not sent finds it.
  if (kill(process.pid, 0) != 0 && errno == ESRCH) return false;
  const Stat stat = read_stat(process.pid);
  if (!stat.readable) return true;
  if (process.start_time != 0 && stat.start_time != process.start_time) return false;
  return !has_ended(stat.state) || another_thread_lives(process.pid);
}

bool writes_are_followed() {
  const char* const preloads = std::getenv("LD_PRELOAD");  // Valgrind adds libraries of its own
  return (preloads && std::strstr(preloads, "vgpreload_")) || dlsym(RTLD_DEFAULT, "__msan_init");
}

}  // namespace millrace::shared_memory
