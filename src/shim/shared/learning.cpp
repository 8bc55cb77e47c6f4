#include "shim/shared/learning.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstring>
#include <mutex>

#include "base/clock.h"
#include "base/log.h"
#include "base/machine.h"
#include "plan/tuning.h"
#include "record/whole_file.h"
#include "shim/host/library_version.h"
#include "shim/host/tuning.h"
#include "shim/shared/savings.h"

namespace millrace::shim {
namespace {

struct Learning {
  std::string path;
  plan::LearnedPlace place;
  std::mutex mutex;
  plan::LearnedRows rows;
};
// Never destroyed: threads may outlive the end of the program.
Learning& state() {
  static Learning& only = *new Learning;
  return only;
}
std::atomic<bool> active{false};

plan::LearnedPlace place_of(int world_ranks) {
  return {machine_name(), plan::host_key(library_version(), world_ranks)};
}

// Held by one process at a time, of any node that sees the file. It is gone with its holder.
class TableLock {
 public:
  explicit TableLock(const std::string& table) : path_(table + ".lock") {
    constexpr std::uint64_t patience_ns = 10'000'000'000;
    const std::uint64_t begin_ns = monotonic_ns();
    while (monotonic_ns() - begin_ns < patience_ns) {
      descriptor_ = open(path_.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
      if (descriptor_ < 0) return;
      if (flock(descriptor_, LOCK_EX | LOCK_NB) == 0 && is_in_place()) return;
      close(descriptor_);
      descriptor_ = -1;
      usleep(1000);
    }
    errno = ETIMEDOUT;
  }
  ~TableLock() {
    if (descriptor_ < 0) return;
    unlink(path_.c_str());
    close(descriptor_);
  }
  TableLock(const TableLock&) = delete;
  TableLock& operator=(const TableLock&) = delete;
  bool holds() const { return descriptor_ >= 0; }

 private:
  // Its last holder may have removed what was opened here.
  bool is_in_place() const {
    struct stat own, there;
    return fstat(descriptor_, &own) == 0 && stat(path_.c_str(), &there) == 0 && own.st_ino == there.st_ino &&
           own.st_dev == there.st_dev;
  }

  std::string path_;
  int descriptor_ = -1;
};

void complain(const std::string& path, const std::string& why) {
  log(LogLevel::warning, fmt::format("MILLRACE_LEARN: {} cannot be written: {}: nothing is kept", path, why));
}

}  // namespace

const plan::LearnedRows& learned_rows(int world_ranks) {
  static const plan::LearnedRows none;
  const plan::Learned& learned = tuning().learned;
  if (learned.empty()) return none;
  const auto rows = learned.find(place_of(world_ranks));
  return rows == learned.end() ? none : rows->second;
}

void prepare_learning(const std::string& path, int world_rank, int world_ranks) {
  const plan::Learned& learned = tuning().learned;
  if (path.empty() && learned.empty()) return;  // what this machine is called takes the kernel 50 us and more to say
  const plan::LearnedPlace place = place_of(world_ranks);
  if (path.empty() && world_rank == 0 && !learned.contains(place))
    log(LogLevel::warning,
        fmt::format("{}: nothing was learned for {} on {}: ignored", tuning().path, place.host, place.machine));
  if (path.empty()) return;
  Learning& learning = state();
  learning.path = path;
  learning.place = place;
  learning.rows.clear();
  active.store(true, std::memory_order_relaxed);
  if (world_rank != 0) return;
  if (const std::string why = plan::learning_obstacle(path); !why.empty()) complain(path, why);
}

bool learns() { return active.load(std::memory_order_relaxed); }

void note_comparisons(const Communicator& communicator, std::span<const plan::Evidence::Comparison> comparisons) {
  Learning& learning = state();
  const std::lock_guard hold(learning.mutex);
  for (const plan::Evidence::Comparison& one : comparisons) {
    const plan::EitherCall call{.kind = one.kind, .flavor = one.flavor, .bytes = one.least_bytes};
    learning.rows[call_class(communicator, call)].ratio.add(one.ours_over_host);
  }
}

void keep_what_was_learned() noexcept try {
  if (!active.exchange(false, std::memory_order_relaxed)) return;
  Learning& learning = state();
  const std::lock_guard hold(learning.mutex);
  // Rank 0 has said what is in the way.
  if (learning.rows.empty() || !plan::learning_obstacle(learning.path).empty()) return;
  const TableLock lock(learning.path);
  if (!lock.holds()) return complain(learning.path, std::strerror(errno));
  const std::optional<std::string> text =
      plan::with_learned(plan::table_text(learning.path), learning.place, learning.rows);
  std::string error = "it is there and is no tuning table";
  if (!text || record::write_whole_file(learning.path, *text, error) != Status::ok) complain(learning.path, error);
} catch (...) {
  log(LogLevel::error, "out of memory: what was learned is not kept");
}

}  // namespace millrace::shim
