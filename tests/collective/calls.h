// One collective call with data to check, described by numbers that all ranks know.
#pragma once

#include <cstdint>
#include <string>

#include "collective/group.h"
#include "operations.h"

namespace millrace::collective::test {

struct CallCase {
  Kind kind = Kind::barrier;
  const Operation* operation = nullptr;  // null for barrier and bcast
  std::size_t elements = 0;              // bytes for bcast
  std::uint32_t root = 0;
  bool in_place = false;
  std::uint64_t number = 0;  // decides the data

  std::string name() const;
};

// To be called before the ranks of a group begin: barriers are counted anew.
void forget_arrivals();

// Makes the call and compares with the left fold, and bytes around the buffers with what was there. "" or what differs.
std::string check_call(Group& group, const CallCase& call);

}  // namespace millrace::collective::test
