// The name of a region that a program gives by address.
#pragma once

#include <cstddef>
#include <span>
#include <string_view>

#include "shim/bind/word.h"

namespace millrace::shim {

// The text at `address`, up to its end or that of `room`; nothing if there is none that can be read. Bytes that would
// break a line of the report are blanked. Never faults where the kernel can be asked for memory of this process.
std::string_view read_region_name(Word address, std::span<char> room) noexcept;

}  // namespace millrace::shim
