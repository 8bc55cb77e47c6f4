// How what this rank sends in one call is copied (copy_choice.h), and what that has cost.
#pragma once

#include <cstddef>
#include <cstdint>

#include "collective/copy_choice.h"
#include "collective/group.h"

namespace millrace::collective {

class CallCopies {
 public:
  // Every rank of the group has one in each call of an algorithm that chooses, for calls are counted, with the same
  // `agreed_bytes`, the size of messages, or 0 where they may differ, and the same `may_be_one`, whether there is a
  // way that copies once. `own_bytes`: of the largest message of this rank either way.
  CallCopies(Group& group, Kind kind, const Call& call, std::size_t agreed_bytes, std::size_t own_bytes,
             bool may_be_one);
  ~CallCopies() {
    group_.past_caches = false;
    group_.keeps_core_ns = 0;
  }
  CallCopies(const CallCopies&) = delete;
  CallCopies& operator=(const CallCopies&) = delete;

  bool are_one() const { return copies_ == Copies::one; }
  // The call has done what it is for.
  void end() {
    if (is_trial_) end_trial();
  }

  // Of smaller messages there is nothing to choose.
  static constexpr std::size_t least_bytes = 8 << 10;

 private:
  void end_trial();
  void look_for_costs();

  Group& group_;
  const Call& call_;
  const Kind kind_;
  const std::size_t own_bytes_;
  Copies copies_;
  bool is_trial_ = false;
  std::uint64_t begin_ticks_ = 0;
};

}  // namespace millrace::collective
