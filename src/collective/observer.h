// Who runs the ranks of a group in a time of its own (src/model): it is told what an algorithm does to shared memory,
// and decides how a wait ends. Without one nothing is asked on the paths that do not wait: the members that such paths
// read anyway, how often to poll, whether somebody may sleep, from how many bytes on a copy is a long one, are set so
// that all goes the slow ways.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace millrace::collective {

class Observer {
 public:
  virtual void published(const std::atomic<std::uint64_t>& flag, std::uint64_t value) = 0;
  // Returns when the flag is at least `least`, or false: it never will be.
  virtual bool wait(const std::atomic<std::uint64_t>& flag, std::uint64_t least) = 0;
  // Whether bytes are to be moved at all, and not only their time to be reckoned.
  virtual bool copies(void* to, const void* from, std::size_t bytes) = 0;

 protected:
  ~Observer() = default;
};

}  // namespace millrace::collective
