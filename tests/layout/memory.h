// Memory between pages that must not be touched, for layouts: a span of bytes lies against the lower or the upper one.
#pragma once

#include <sys/mman.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>

namespace millrace::layout::test {

enum class Against { lower, upper };

class Memory {
 public:
  explicit Memory(std::size_t bytes) : bytes_(bytes), page_(static_cast<std::size_t>(sysconf(_SC_PAGESIZE))) {
    bytes_ = (bytes_ + page_ - 1) / page_ * page_;
    void* const mapped = mmap(nullptr, bytes_ + 2 * page_, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    start_ = static_cast<unsigned char*>(mapped) + page_;
    mprotect(start_, bytes_, PROT_READ | PROT_WRITE);
  }
  ~Memory() { munmap(start_ - page_, bytes_ + 2 * page_); }
  Memory(const Memory&) = delete;
  Memory& operator=(const Memory&) = delete;

  // Where `bytes` bytes are to lie.
  unsigned char* span(std::size_t bytes, Against against) const {
    return against == Against::lower ? start_ : start_ + bytes_ - bytes;
  }
  unsigned char* start() const { return start_; }
  std::size_t bytes() const { return bytes_; }

 private:
  std::size_t bytes_, page_;
  unsigned char* start_;
};

}  // namespace millrace::layout::test
