// What collectives need to know of a datatype: how many bytes of data an element has, and whether its data are all the
// bytes there are.
#pragma once

#include <cstdint>
#include <optional>

#include "shim/bind/word.h"

namespace millrace::shim {

struct WireType {
  std::int64_t size_bytes;    // of data
  std::int64_t extent_bytes;  // from one element to the next
  bool gapless;               // the data of an element are the bytes [0, extent), in some order
  bool plain;                 // ... in the order of memory: predefined, without gaps
};

// Nothing if the host refuses the handle. Thread-safe. A few nanoseconds for predefined types, some questions to the
// host for others.
std::optional<WireType> wire_type(Word datatype) noexcept;

}  // namespace millrace::shim
