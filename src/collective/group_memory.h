// What the memory of a group takes.
#pragma once

#include <cstddef>

namespace millrace::collective {

// At most, unless its machine has little.
inline constexpr std::size_t usual_group_bytes = std::size_t{64} << 20;

}  // namespace millrace::collective
