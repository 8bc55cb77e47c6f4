#include "tools/progress.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cmath>

#include "base/clock.h"

namespace millrace::tools {
namespace {

constexpr std::uint64_t second_ns = 1'000'000'000;
constexpr std::size_t columns = 79;
constexpr std::string_view over = "\r\033[K";

}  // namespace

std::string rough_time(double seconds) {
  if (seconds < 100) return fmt::format("{:.0f} s", std::max(1.0, std::ceil(seconds)));
  if (seconds < 100 * 60) return fmt::format("{:.0f} min", std::ceil(seconds / 60));
  return fmt::format("{:.0f} h", std::ceil(seconds / 3600));
}

Progress::Progress(std::string name) : Progress(std::move(name), STDERR_FILENO) {}

Progress::Progress(std::string name, int descriptor)
    : name_(std::move(name)), descriptor_(descriptor), is_terminal_(isatty(descriptor) != 0) {}

void Progress::write(const std::string& line) {
  const std::string text = is_terminal_ ? std::string(over) + line.substr(0, columns) : line + '\n';
  [[maybe_unused]] const ssize_t written = ::write(descriptor_, text.data(), text.size());
  is_dirty_ = is_terminal_;
  said_ns_ = monotonic_ns();
}

void Progress::step(std::string_view what) {
  step_ = what;
  write(fmt::format("{}: {}", name_, step_));
  begin_ns_ = said_ns_;
}

void Progress::part(std::size_t done, std::size_t all) {
  const std::uint64_t now_ns = monotonic_ns(), pause_ns = is_terminal_ ? second_ns / 5 : 10 * second_ns;
  if (now_ns - said_ns_ < pause_ns || done == 0 || done > all) return;
  const double taken = static_cast<double>(now_ns - begin_ns_) / static_cast<double>(second_ns);
  const double left = taken * static_cast<double>(all - done) / static_cast<double>(done);
  write(fmt::format("{}: {}: {} of {}, about {} left", name_, step_, done, all, rough_time(left)));
}

void Progress::clear() {
  if (!is_dirty_) return;
  [[maybe_unused]] const ssize_t written = ::write(descriptor_, over.data(), over.size());
  is_dirty_ = false;
}

}  // namespace millrace::tools
