// Memory for the tests of the copies: a buffer that ends or begins at a page that must not be touched.
#pragma once

#include <sys/mman.h>
#include <unistd.h>

#include <cstddef>
#include <cstring>

namespace millrace::kernel::test {

class GuardedSpace {
 public:
  explicit GuardedSpace(std::size_t bytes) {
    page_bytes_ = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
    bytes_ = (bytes + page_bytes_ - 1) / page_bytes_ * page_bytes_;
    void* const mapped = mmap(nullptr, bytes_ + 2 * page_bytes_, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    base_ = static_cast<char*>(mapped) + page_bytes_;
    mprotect(base_, bytes_, PROT_READ | PROT_WRITE);
  }
  ~GuardedSpace() { munmap(base_ - page_bytes_, bytes_ + 2 * page_bytes_); }
  GuardedSpace(const GuardedSpace&) = delete;
  GuardedSpace& operator=(const GuardedSpace&) = delete;

  // `bytes` that end (at_end) or begin `slack_bytes` away from the guard page.
  char* place(std::size_t bytes, bool at_end, std::size_t slack_bytes) const {
    return at_end ? base_ + bytes_ - bytes - slack_bytes : base_ + slack_bytes;
  }
  std::size_t capacity_bytes() const { return bytes_; }

 private:
  std::size_t page_bytes_, bytes_;
  char* base_;
};

}  // namespace millrace::kernel::test
