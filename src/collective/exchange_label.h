// Begins a call that has a label instead of bytes and a root.
#pragma once

#include <cstdint>

#include "base/hash.h"
#include "collective/group.h"

namespace millrace::collective {

inline Result enter_labelled(Group& group, Kind kind, std::uint64_t label, Call& call) {
  const std::uint64_t mixed = spread(label + 1);
  return group.enter(kind, mixed >> 24, static_cast<std::uint32_t>(mixed >> 4 & 0xfffff), call);
}

}  // namespace millrace::collective
