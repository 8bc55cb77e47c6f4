// Memory that ends where nothing may be touched, with a margin before it that must stay as it was: for buffers of
// callers while others scribble in shared memory.
#pragma once

#include <sys/mman.h>

#include <cstddef>
#include <cstdlib>
#include <cstring>

namespace millrace::collective::test {

class Guarded {
 public:
  explicit Guarded(std::size_t bytes) : bytes_(bytes), mapped_((bytes + page - 1) / page * page + page) {
    void* const base = mmap(nullptr, mapped_ + 2 * page, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (base == MAP_FAILED) std::abort();
    first_ = static_cast<char*>(base) + page;
    if (mprotect(first_, mapped_, PROT_READ | PROT_WRITE) != 0) std::abort();
    std::memset(first_, untouched, margin());
  }
  ~Guarded() { munmap(first_ - page, mapped_ + 2 * page); }
  Guarded(const Guarded&) = delete;
  Guarded& operator=(const Guarded&) = delete;

  char* data() const { return first_ + margin(); }
  std::size_t bytes() const { return bytes_; }
  bool intact() const {
    for (std::size_t at = 0; at < margin(); ++at)
      if (first_[at] != untouched) return false;
    return true;
  }

 private:
  static constexpr std::size_t page = 4096;
  static constexpr char untouched = 0x5a;
  std::size_t margin() const { return mapped_ - bytes_; }

  std::size_t bytes_, mapped_;
  char* first_;
};

}  // namespace millrace::collective::test
