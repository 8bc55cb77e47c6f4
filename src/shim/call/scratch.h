// Memory for the length of one call.
#pragma once

#include <cstdlib>
#include <memory>

namespace millrace::shim {

struct FreeMemory {
  void operator()(void* memory) const { std::free(memory); }
};
using Scratch = std::unique_ptr<char, FreeMemory>;

// Null if there is none.
inline Scratch scratch(std::size_t bytes) { return Scratch(static_cast<char*>(std::malloc(bytes))); }

}  // namespace millrace::shim
