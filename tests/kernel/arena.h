// Memory between two pages that must not be touched. Buffers are placed at its end, so reading one byte too far
// faults, and are surrounded by a pattern, so writing one byte outside is seen.
#pragma once

#include <sys/mman.h>
#include <unistd.h>

#include <cstddef>
#include <cstring>

namespace millrace::kernel::test {

class Arena {
 public:
  explicit Arena(std::size_t bytes) {
    page_bytes_ = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
    bytes_ = (bytes + 2 * margin_bytes + page_bytes_ - 1) / page_bytes_ * page_bytes_;
    void* const mapped = mmap(nullptr, bytes_ + 2 * page_bytes_, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    base_ = static_cast<char*>(mapped) + page_bytes_;
    mprotect(base_, bytes_, PROT_READ | PROT_WRITE);
  }
  ~Arena() { munmap(base_ - page_bytes_, bytes_ + 2 * page_bytes_); }
  Arena(const Arena&) = delete;
  Arena& operator=(const Arena&) = delete;

  // A buffer with this content, `slack_bytes` (at most 64) before the end of the last page.
  char* place(const char* content, std::size_t bytes, std::size_t slack_bytes) {
    at_ = base_ + bytes_ - slack_bytes - bytes;
    size_ = bytes;
    slack_ = slack_bytes;
    std::memset(at_ - margin_bytes, pattern, margin_bytes);
    if (bytes) std::memcpy(at_, content, bytes);
    std::memset(at_ + bytes, pattern, slack_bytes);
    return at_;
  }

  // Whether the bytes around the buffer are as place() left them.
  bool surroundings_intact() const {
    for (std::size_t i = 1; i <= margin_bytes; ++i)
      if (at_[-static_cast<std::ptrdiff_t>(i)] != pattern) return false;
    for (std::size_t i = 0; i < slack_; ++i)
      if (at_[size_ + i] != pattern) return false;
    return true;
  }

 private:
  static constexpr std::size_t margin_bytes = 128;
  static constexpr char pattern = 0x5a;
  std::size_t page_bytes_, bytes_, size_ = 0, slack_ = 0;
  char *base_, *at_ = nullptr;
};

}  // namespace millrace::kernel::test
