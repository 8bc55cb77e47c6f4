// How much memory the ranks of a node may use together for what they share.
#pragma once

#include <array>
#include <cstdint>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

namespace millrace::node {

// Reads what is left before the control groups of this process, or the machine, run out of memory. It is asked for each
// communicator that ranks agree on, so it keeps what does not change, and allocates nothing while the process stays in
// its groups: a program's heap is not to be cut up by it. Thread-safe.
class MemoryGauge {
 public:
  explicit MemoryGauge(std::string root = {})
      : root_(std::move(root)) {}  // `root` stands before /proc and mount points

  std::uint64_t available_bytes();  // 0 if nothing can be read
  // The same, or what it was up to `recent_ns` before `now_ns`: some ten files are read, 60 us.
  std::uint64_t recent_bytes(std::uint64_t now_ns);
  static constexpr std::uint64_t recent_ns = 10'000'000;

 private:
  struct Group {
    std::string limit_file;
    std::string usage_file;
    std::string statistics_file;
  };

  std::string_view read(const std::string& path);  // until the next read
  void find_groups();
  std::uint64_t left_in(const Group& group);
  std::uint64_t read_all();

  const std::string root_;
  std::mutex mutex_;
  std::array<char, 16384> text_;  // of one file; memory.stat has some 3 KiB
  std::string membership_;        // what /proc/self/cgroup said when groups_ were found
  const std::string meminfo_ = root_ + "/proc/meminfo";
  const std::string cgroup_ = root_ + "/proc/self/cgroup";
  int version_ = 0;
  std::vector<Group> groups_;
  std::uint64_t read_at_ns_ = 0, read_bytes_ = 0;
};

}  // namespace millrace::node
