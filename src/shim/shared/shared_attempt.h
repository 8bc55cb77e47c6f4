// One collective call on a communicator whose ranks share memory: is it ours, and then what became of it.
#pragma once

#include <optional>

#include "collective/group.h"
#include "collective/result.h"
#include "collective/selection.h"
#include "plan/evidence.h"
#include "plan/learned.h"
#include "plan/op_substitution.h"
#include "plan/shared_collectives.h"
#include "record/record.h"
#include "shim/node/communicators.h"
#include "shim/shared/shared_collectives.h"

namespace millrace::shim {

struct Attempt {
  record::Reason reason = record::Reason::none;  // anything else: nothing was done, the host must do the call
  collective::Result result = collective::Result::ok;
  int error = 0;  // of the host, where we used it to pack or to apply an op
  // Nothing was done, the call counts, and every call with the same words is the host's until the ranks decide anew,
  // wherever its buffers are.
  bool by_words = false;
};

inline constexpr Attempt refused(record::Reason reason) { return {reason, collective::Result::not_supported, 0}; }
inline constexpr Attempt failed(int error) { return {record::Reason::none, collective::Result::ok, error}; }
// The same where the other ranks count on this one: the group breaks, so that they get an error instead of waiting.
inline Attempt failed_for_all(collective::Group& group, int error) {
  group.fail(collective::Result::rank_failed);
  return failed(error);
}
// What the group did; a call that it does not support is left to the host, on every rank.
inline constexpr Attempt done(collective::Result result) {
  if (result == collective::Result::not_supported) return refused(record::Reason::host_is_faster);
  return {record::Reason::none, result, 0};
}

// What the plan knows of the host, for host_shares_faster(), and whether to ask the plan at all. Before the first
// attempt, by one thread.
void use_host_facts(const plan::HostFacts& measured, const plan::HostCollectives& table, plan::LearnedSides learned,
                    bool take_all);
// Whether a rank of MPI_Bcast that expects more than the root sends gets MPI_ERR_OTHER.
bool host_reports_short_bcast();
// Nothing if a call that reduces nothing is ours, by what was measured and is being measured (measured_calls.h), else
// what becomes of it; the same answer on every rank. Once for a call. `call.bytes`: of each block, -1 where ranks do
// not know it to be equal.
// `has_handles`: of datatypes that are not predefined, and by which `call` was made.
std::optional<Attempt> not_ours(Communicator& communicator, const plan::EitherCall& call, bool has_handles);

Attempt attempt_collective(Communicator& communicator, const CollectiveCall& call) noexcept;

}  // namespace millrace::shim
