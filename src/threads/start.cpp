#include "threads/start.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <pthread.h>
#include <sys/file.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <charconv>
#include <ctime>
#include <string_view>
#include <vector>

namespace millrace::threads {
namespace {

constexpr int most_waits = 20;
constexpr long wait_ns = 1'000'000;

void* wait_until_open(void* gate) {
  static_cast<std::atomic<bool>*>(gate)->wait(false);
  return nullptr;
}

class Attributes {
 public:
  explicit Attributes(std::size_t stack_bytes) {
    pthread_attr_init(&attributes_);
    if (stack_bytes > 0) pthread_attr_setstacksize(&attributes_, stack_bytes);  // or the default, as in the runtime
  }
  ~Attributes() { pthread_attr_destroy(&attributes_); }
  Attributes(const Attributes&) = delete;
  Attributes& operator=(const Attributes&) = delete;
  const pthread_attr_t* get() const { return &attributes_; }

 private:
  pthread_attr_t attributes_;
};

// "4096" is in KiB; or with B, K, M or G behind it. 0 if it is neither.
std::size_t read_stack_bytes(std::string_view text) {
  const auto is_space = [](char letter) { return letter == ' ' || letter == '\t'; };
  while (!text.empty() && is_space(text.front())) text.remove_prefix(1);
  std::size_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{}) return 0;
  text.remove_prefix(static_cast<std::size_t>(end - text.data()));
  while (!text.empty() && is_space(text.front())) text.remove_prefix(1);
  const char unit = text.empty() ? 'k' : static_cast<char>(text.front() | 0x20);
  const std::size_t place = std::string_view("bkmg").find(unit);
  if (place == std::string_view::npos || value > std::size_t{1} << 32) return 0;
  return value << (10 * place);
}

}  // namespace

// A lock on the file of this very object: there for everybody, writable for nobody. Where a file system has no locks,
// ranks take their chance.
StartTurn::StartTurn() {
  Dl_info self;
  if (!dladdr(reinterpret_cast<const void*>(&can_start), &self) || !self.dli_fname) return;
  file_ = open(self.dli_fname, O_RDONLY | O_CLOEXEC);
  if (file_ < 0) return;
  for (int waits = 0;; ++waits) {
    if (flock(file_, LOCK_EX | LOCK_NB) == 0 || errno != EWOULDBLOCK) return;
    if (waits == most_waits) break;
    const timespec moment{0, wait_ns};
    nanosleep(&moment, nullptr);
  }
  is_ours_ = false;
}

void StartTurn::end() {
  if (file_ >= 0) close(file_);
  file_ = -1;
}

bool can_start(unsigned threads, const char* const* environment) {
  const Attributes attributes(openmp_stack_bytes(environment));
  std::vector<pthread_t> started;
  started.reserve(threads);
  std::atomic<bool> is_open{false};
  while (started.size() < threads) {
    pthread_t thread;
    if (pthread_create(&thread, attributes.get(), wait_until_open, &is_open) != 0) break;
    started.push_back(thread);
  }
  const bool all = started.size() == threads;
  is_open.store(true);
  is_open.notify_all();
  for (const pthread_t thread : started) pthread_join(thread, nullptr);
  return all;
}

std::size_t openmp_stack_bytes(const char* const* environment) {
  std::size_t bytes = 0;
  for (; environment && *environment; ++environment) {
    const std::string_view entry = *environment;
    for (const std::string_view variable : {"OMP_STACKSIZE=", "GOMP_STACKSIZE=", "KMP_STACKSIZE="})
      if (entry.starts_with(variable)) bytes = std::max(bytes, read_stack_bytes(entry.substr(variable.size())));
  }
  return bytes;
}

}  // namespace millrace::threads
