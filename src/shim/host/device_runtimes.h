// The GPU runtimes that can be asked about an address. Declared by hand, as their documents have it: no header of
// theirs is needed to build, no library to run.
#pragma once

#include <array>
#include <cstddef>
#include <string>

#include "shim/bind/word.h"

namespace millrace::shim {

// Whether an address is memory that the processor cannot touch. False where the runtime has not been initialised by
// the program or the host: then it has given out no memory. Thread-safe.
using DeviceQuestion = bool (*)(Word address);

struct DeviceRuntime {
  const char* library;  // how the name of its file begins
  // Finds its functions in the loaded library; null if one is missing. By one thread at a time.
  DeviceQuestion (*bind)(void* library, const std::string& path);
};

inline constexpr std::size_t device_runtime_count = 3;
const std::array<DeviceRuntime, device_runtime_count>& device_runtimes();

}  // namespace millrace::shim
