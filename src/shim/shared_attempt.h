// One collective call on a communicator whose ranks share memory: is it ours, and then what became of it.
#pragma once

#include "collective/result.h"
#include "record/record.h"
#include "shim/communicators.h"
#include "shim/shared_collectives.h"

namespace millrace::shim {

struct Attempt {
  record::Reason reason = record::Reason::none;  // anything else: nothing was done, the host must do the call
  collective::Result result = collective::Result::ok;
  int error = 0;  // of the host, where we used it to pack or to apply an op
};

inline constexpr Attempt refused(record::Reason reason) { return {reason, collective::Result::not_supported, 0}; }
inline constexpr Attempt failed(int error) { return {record::Reason::none, collective::Result::ok, error}; }
// What the group did; a call that it does not support is left to the host, on every rank.
inline constexpr Attempt done(collective::Result result) {
  if (result == collective::Result::not_supported) return refused(record::Reason::host_is_faster);
  return {record::Reason::none, result, 0};
}

Attempt attempt_collective(Communicator& communicator, const CollectiveCall& call) noexcept;

}  // namespace millrace::shim
