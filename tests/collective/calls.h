// One collective call with data to check, described by numbers that all ranks know.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

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
  bool in_rank_order = false;

  std::string name() const;
  Reducer reducer() const {
    Reducer found = operation->reducer;
    found.in_rank_order = in_rank_order;
    return found;
  }
  bool reduces() const { return kind != Kind::barrier && kind != Kind::bcast; }
};

// The blocks of a Reduce_scatter: alike where that can be and the number is even, else any, empty ones too.
std::vector<std::size_t> block_counts(const CallCase& call, std::uint32_t ranks);

// The kinds of which there are cases; of some, only one rank gets the result.
inline constexpr Kind called_kinds[] = {Kind::barrier,        Kind::bcast, Kind::reduce, Kind::allreduce,
                                        Kind::reduce_scatter, Kind::scan,  Kind::exscan};
constexpr bool has_root(Kind kind) { return kind == Kind::bcast || kind == Kind::reduce; }

// To be called before the ranks of a group begin: barriers are counted anew.
void forget_arrivals();

// Makes the call and compares with the left fold, and bytes around the buffers with what was there. "" or what differs.
std::string check_call(Group& group, const CallCase& call);

}  // namespace millrace::collective::test
