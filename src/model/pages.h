// Zeroed memory, of which only what is touched is there.
#pragma once

#include <sys/mman.h>

#include <cstddef>

namespace millrace::model {

class Pages {
 public:
  Pages() = default;
  Pages(const Pages&) = delete;
  Pages& operator=(const Pages&) = delete;
  ~Pages() {
    if (base_) munmap(base_, bytes_);
  }
  bool map(std::size_t bytes) {
    void* const memory =
        mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (memory == MAP_FAILED) return false;
    base_ = static_cast<char*>(memory);
    bytes_ = bytes;
    return true;
  }
  char* base() const { return base_; }
  bool holds(const char* address) const { return address >= base_ && address < base_ + bytes_; }

 private:
  char* base_ = nullptr;
  std::size_t bytes_ = 0;
};

}  // namespace millrace::model
