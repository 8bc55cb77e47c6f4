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

Attempt attempt_collective(Communicator& communicator, const CollectiveCall& call) noexcept;

}  // namespace millrace::shim
