// Memory for packed messages: kept and used again, in powers of two, never more than a stated cap (MILLRACE_BUFFERS) of
// it in the process, whether in use or waiting. Past the cap there is none, and the host does the call.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>

namespace millrace::shim {

void set_buffer_cap(std::size_t bytes);

// 64-byte aligned. Takes about 10 ns when a buffer of the size waits. Null if the cap is reached or memory ran out.
// Thread-safe; a buffer may be given back by another thread.
void* take_buffer(std::int64_t bytes);
void give_back_buffer(void* buffer, std::int64_t bytes);

// Owns one buffer; empty if there was none to have.
class Buffer {
 public:
  Buffer() = default;
  explicit Buffer(std::int64_t bytes) : data_(take_buffer(bytes)), bytes_(bytes) {}
  Buffer(Buffer&& other) noexcept : data_(std::exchange(other.data_, nullptr)), bytes_(other.bytes_) {}
  Buffer& operator=(Buffer&& other) noexcept {
    std::swap(data_, other.data_);
    std::swap(bytes_, other.bytes_);
    return *this;
  }
  ~Buffer() {
    if (data_) give_back_buffer(data_, bytes_);
  }
  void* data() const { return data_; }
  std::int64_t bytes() const { return bytes_; }
  explicit operator bool() const { return data_ != nullptr; }

 private:
  void* data_ = nullptr;
  std::int64_t bytes_ = 0;
};

}  // namespace millrace::shim
