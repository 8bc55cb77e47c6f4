// Who does a collective faster, measured in this job (plan/evidence.h): the part that has a clock, ranks and memory.
//
// Only of calls that either side may do at any time without a program's noticing: those that move data, and reductions
// whose result is exact. Sums of floating-point numbers stay where the table has them: their bits shall not hang on
// times.
#pragma once

#include <cstdint>

#include "base/settings.h"
#include "collective/result.h"
#include "kernel/types.h"
#include "plan/evidence.h"
#include "record/record.h"
#include "shim/node/communicators.h"

namespace millrace::shim {

// MILLRACE_MEASURE. Before the first collective, by one thread; equal on all ranks.
void measure_calls(When when);

// Who does a call on a communicator that shares memory: `reason` is none if it is ours. Anything but ok has broken the
// group.
struct Whose {
  collective::Result result = collective::Result::ok;
  record::Reason reason = record::Reason::none;
};
// `hosts`: whether the table leaves it to the host; `either`: whether it may be done by the other side. Once for each
// call, as soon as all is known that is the same on all ranks. Calls count from here on: a rank that fails before makes
// none, as far as the others are concerned.
struct Asked {
  plan::EitherCall call;
  bool hosts, either;
};
Whose whose_call(Communicator& communicator, const Asked& asked) noexcept;
// The call that was asked about is the host's: who is asked once more, on the long way to it, shall answer so, and
// counts nothing. Until it has been asked, or forget_answer().
void keep_answer(Communicator& communicator, record::Reason reason) noexcept;
void forget_answer(Communicator& communicator) noexcept;

// The host has done one while the ranks had not agreed: what is known of it beforehand.
void note_host_call(Communicator& communicator, std::uint64_t time_ns) noexcept;

// Counts a call whose words are those of one that was refused when the ranks had decided as in `epoch`. False if more
// than that is due: then nothing is counted. `synchronises`: no rank may leave such a call before all have come.
bool count_as_before(Communicator& communicator, std::uint64_t epoch, bool synchronises) noexcept;
void note_counted(Communicator& communicator) noexcept;  // before the end of such a call that failed
std::uint64_t epoch_of_decisions(const Communicator& communicator);

// A call of the host's on a communicator whose ranks share memory has ended, with an error or without.
// `takes_part`: on this rank something was done of it, whatever the error.
void host_call_ended(Communicator& communicator, int error, bool takes_part) noexcept;

// The call has been done, by whomever, or has failed (an error of MPI), with this rank's part done or not.
void note_end(Communicator& communicator, int error, bool took_part) noexcept;

// Whether every order and every library gives the same bits.
bool is_exact(kernel::Op op, kernel::Type type);

}  // namespace millrace::shim
