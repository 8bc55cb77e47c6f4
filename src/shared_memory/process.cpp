#include "shared_memory/process.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>

namespace millrace::shared_memory {
namespace {

struct Stat {
  bool found, readable;
  char state;
  std::uint64_t start_time;
};

// Fields 3 and 22 of /proc/PID/stat (proc(5)); the name in field 2 may hold anything, so count from its last ')'.
Stat read_stat(std::int32_t pid) {
  char path[40] = {}, text[1024];
  fmt::format_to_n(path, sizeof path - 1, "/proc/{}/stat", pid);
  const int file = open(path, O_RDONLY | O_CLOEXEC);
  if (file < 0) return {errno != ENOENT, false, 0, 0};
  const ssize_t length = read(file, text, sizeof text - 1);
  const int error = errno;
  close(file);
  if (length <= 0) return {!(length < 0 && error == ESRCH), false, 0, 0};
  text[length] = 0;
  const char* at = std::strrchr(text, ')');
  if (!at || at[1] != ' ') return {true, false, 0, 0};
  at += 2;
  const char state = *at;
  for (int field = 3; field < 22; ++field) {
    at = std::strchr(at, ' ');
    if (!at) return {true, false, 0, 0};
    ++at;
  }
  return {true, true, state, std::strtoull(at, nullptr, 10)};
}

}  // namespace

ProcessIdentity own_identity() {
  ProcessIdentity identity;
  identity.pid = getpid();
  identity.start_time = read_stat(identity.pid).start_time;
  struct stat space {};
  if (stat("/proc/self/ns/pid", &space) == 0) identity.pid_namespace = space.st_ino;
  return identity;
}

bool maybe_alive(const ProcessIdentity& process, const ProcessIdentity& observer) {
  if (process.pid_namespace != observer.pid_namespace || process.start_time == 0) return true;
  const Stat stat = read_stat(process.pid);
  if (!stat.found) return false;
  if (!stat.readable) return true;
  return stat.state != 'Z' && stat.state != 'X' && stat.start_time == process.start_time;
}

}  // namespace millrace::shared_memory
