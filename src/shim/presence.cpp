#include "shim/presence.h"

#include <fmt/format.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <fstream>

namespace millrace::shim {
namespace {

// Bumped when ranks of two builds could no longer work together.
constexpr int protocol = 2;

std::atomic<int> spare{-1};  // kept in reserve

int new_socket() { return socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0); }

struct Address {
  sockaddr_un address{};
  socklen_t length = 0;
};

// Abstract names start with a zero byte and end where the length says.
Address address_of(const std::string& job, int rank, std::string_view what) {
  const std::string name = fmt::format("millrace/{}/{}/{}/{}/{}", MILLRACE_VERSION, protocol, job, rank, what);
  Address result;
  result.address.sun_family = AF_UNIX;
  const std::size_t length = std::min(name.size(), sizeof result.address.sun_path - 1);
  // The end of a name that is too long holds what differs between ranks.
  std::memcpy(result.address.sun_path + 1, name.data() + (name.size() - length), length);
  result.length = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + length);
  return result;
}

// A job ends and another may get its process number: the time at which the process started tells them apart.
std::string start_time(pid_t process) {
  std::ifstream file(fmt::format("/proc/{}/stat", process));
  std::string text;
  std::getline(file, text);
  const std::size_t after_name = text.rfind(')');
  if (after_name == std::string::npos) return {};
  std::size_t position = after_name;
  for (int field = 2; field < 22 && position != std::string::npos; ++field) position = text.find(' ', position + 1);
  if (position == std::string::npos) return {};
  return text.substr(position + 1, text.find(' ', position + 1) - position - 1);
}

std::string process_key(const char* kind, pid_t process) {
  return fmt::format("{}-{}-{}", kind, process, start_time(process));
}

// Who is at the other end of the socket that the launcher left us: on a node all ranks have the same daemon there,
// whatever scripts stand between it and the rank.
pid_t pmi_daemon() {
  const char* text = std::getenv("PMI_FD");
  if (!text) return 0;
  char* end = nullptr;
  const long descriptor = std::strtol(text, &end, 10);
  if (end == text || *end != '\0' || descriptor < 0) return 0;
  ucred peer{};
  socklen_t length = sizeof peer;
  if (getsockopt(static_cast<int>(descriptor), SOL_SOCKET, SO_PEERCRED, &peer, &length) != 0) return 0;
  return peer.pid;
}

}  // namespace

std::string job_key() {
  if (const char* name = std::getenv("PMIX_NAMESPACE"); name && *name) return fmt::format("pmix-{}", name);
  if (const pid_t daemon = pmi_daemon(); daemon > 0) return process_key("pmi", daemon);
  const char* job = std::getenv("SLURM_JOB_ID");
  const char* step = std::getenv("SLURM_STEP_ID");
  if (job && step) return fmt::format("slurm-{}.{}", job, step);
  return process_key("parent", getppid());
}

Name::~Name() { release(); }

bool Name::reserve(const std::string& job, int rank, std::string_view what) {
  release();
  descriptor_ = new_socket();
  const Address address = address_of(job, rank, what);
  if (descriptor_ >= 0 && bind(descriptor_, reinterpret_cast<const sockaddr*>(&address.address), address.length) == 0)
    return true;
  release();
  return false;
}

// Nobody is ever accepted: the others ask a few times each, and a full queue answers as well as a free one.
bool Name::answer() { return descriptor_ >= 0 && listen(descriptor_, SOMAXCONN) == 0; }

void Name::silence() {
  if (descriptor_ >= 0) shutdown(descriptor_, SHUT_RDWR);
}

void Name::release() {
  if (descriptor_ >= 0) close(descriptor_);
  descriptor_ = -1;
}

bool prepare_asking() {
  if (spare.load(std::memory_order_relaxed) < 0) spare.store(new_socket(), std::memory_order_relaxed);
  return spare.load(std::memory_order_relaxed) >= 0;
}

void end_asking() {
  if (const int reserve = spare.exchange(-1, std::memory_order_relaxed); reserve >= 0) close(reserve);
}

bool answers(const std::string& job, int rank, std::string_view what) {
  int descriptor = new_socket();
  if (descriptor < 0) descriptor = spare.exchange(-1, std::memory_order_relaxed);
  if (descriptor < 0) return false;
  const Address address = address_of(job, rank, what);
  bool present = connect(descriptor, reinterpret_cast<const sockaddr*>(&address.address), address.length) == 0;
  if (present) {
    // Anybody may bind a name; only a process of the same user is a rank of the same job.
    ucred peer{};
    socklen_t length = sizeof peer;
    present = getsockopt(descriptor, SOL_SOCKET, SO_PEERCRED, &peer, &length) == 0 && peer.uid == geteuid();
  } else {
    present = errno == EAGAIN;
  }
  close(descriptor);
  if (spare.load(std::memory_order_relaxed) < 0) {
    // Relaxed: the number is the whole message. Two threads may both refill it; the loser's is closed.
    if (const int former = spare.exchange(new_socket(), std::memory_order_relaxed); former >= 0) close(former);
  }
  return present;
}

}  // namespace millrace::shim
