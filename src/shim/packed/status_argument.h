// The status of a call that receives: the program's, or one of ours where the program does not want any.
#pragma once

#include <cstdint>
#include <new>

#include "shim/packed/host_call.h"

namespace millrace::shim {

// Bytes of a received message; -1 for one that was cancelled.
std::int64_t received_bytes(const void* status);
int error_class_in(const void* status);

// In Fortran a status is the C one, as an array of INTEGER (fortran::statuses_differ() says where not). The words of
// the call are those that the host is given; the object outlives the call.
class StatusArgument {
 public:
  StatusArgument(HostCall& call, std::size_t position, int count = 1);
  ~StatusArgument() {
    if (statuses_ == own_.data() || !is_own_) return;
    // Clang 16 believes that std::optional destroys what it holds twice.
    ::operator delete(statuses_, std::nothrow);  // NOLINT(clang-analyzer-cplusplus.NewDelete)
  }
  StatusArgument(const StatusArgument&) = delete;
  StatusArgument& operator=(const StatusArgument&) = delete;

  bool has_memory() const { return statuses_ != nullptr; }
  const void* at(int index) const { return statuses_ + abi::status_bytes * static_cast<std::size_t>(index); }

 private:
  static constexpr int own_count = 16;
  alignas(8) std::array<std::byte, abi::status_bytes * own_count> own_;
  std::byte* statuses_ = nullptr;
  bool is_own_ = false;
};

}  // namespace millrace::shim
