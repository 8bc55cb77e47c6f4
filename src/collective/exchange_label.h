// Begins a call that has a label instead of bytes and a root.
#pragma once

#include <cstdint>

#include "base/hash.h"
#include "collective/group.h"

namespace millrace::collective {

inline std::uint64_t what_of_label(Kind kind, std::uint64_t label) {
  const std::uint64_t mixed = spread(label + 1);
  return Group::what_of(kind, mixed >> 24, static_cast<std::uint32_t>(mixed >> 4 & 0xfffff));
}

inline Result enter_labelled(Group& group, Kind kind, std::uint64_t label, Call& call) {
  return group.enter(what_of_label(kind, label), call);
}

}  // namespace millrace::collective
