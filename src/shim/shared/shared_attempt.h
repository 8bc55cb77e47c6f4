// One collective call on a communicator whose ranks share memory: is it ours, and then what became of it.
#pragma once

#include <cstdint>
#include <memory>

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

// One word: where its parts are written one by one and read together, a processor must wait for its store buffer, which
// three times a call took a tenth of a small collective.
class Attempt {
 public:
  // Nothing has been done, and it is ours to do.
  static constexpr Attempt ours() { return Attempt(is_ours); }
  // `reason`: anything but none says that nothing was done, the host must do the call.
  constexpr Attempt(record::Reason reason, collective::Result result, int error)
      : word_(std::uint64_t{static_cast<std::uint32_t>(error)} << 32 |
              static_cast<std::uint64_t>(result) << result_bit | static_cast<std::uint64_t>(reason)) {}

  constexpr bool is_decided() const { return (word_ & is_ours) == 0; }
  constexpr record::Reason reason() const { return static_cast<record::Reason>(word_ & 0xff); }
  constexpr collective::Result result() const { return static_cast<collective::Result>(word_ >> result_bit & 0xff); }
  constexpr int error() const { return static_cast<int>(word_ >> 32); }  // of the host: it packs, or applies an op
  // Nothing was done, the call counts, and every call with the same words is the host's until the ranks decide anew,
  // wherever its buffers are.
  constexpr bool by_words() const { return (word_ & is_by_words) != 0; }
  // The same of a call that nobody counts, for there is nothing to move: whatever the ranks decide.
  constexpr bool is_uncounted() const { return (word_ & is_not_counted) != 0; }
  // Done without an error of anybody.
  constexpr bool is_good() const { return (word_ & ~is_by_words) == 0; }

  constexpr Attempt as_by_words() const { return Attempt(word_ | is_by_words); }
  constexpr Attempt as_uncounted() const { return Attempt(word_ | is_by_words | is_not_counted); }
  // With an error of which the program's handler has not heard yet: it hears of it last, for it may free the
  // communicator.
  constexpr Attempt as_untold() const { return Attempt(word_ | is_not_told); }
  constexpr bool is_untold() const { return (word_ & is_not_told) != 0; }
  // With an error of the host, if it has none yet.
  constexpr Attempt with_error(int error) const {
    return this->error() != 0 ? *this : Attempt(reason(), result(), error);
  }

 private:
  static constexpr int result_bit = 8;
  static constexpr std::uint64_t is_by_words = 1 << 16, is_ours = 1 << 17, is_not_counted = 1 << 18,
                                 is_not_told = 1 << 19;
  explicit constexpr Attempt(std::uint64_t word) : word_(word) {}

  std::uint64_t word_;
};
static_assert(static_cast<std::uint64_t>(record::Reason::none) == 0 &&
              static_cast<std::uint64_t>(collective::Result::ok) == 0);

inline constexpr Attempt refused(record::Reason reason) { return {reason, collective::Result::not_supported, 0}; }
// Nothing is to be moved. `by_words`: because the count is 0, whatever the datatype.
inline constexpr Attempt refused_nothing(bool by_words) {
  const Attempt attempt = refused(record::Reason::host_is_faster);
  return by_words ? attempt.as_uncounted() : attempt;
}
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

struct Repeat;  // repeat.h

// What the plan knows of the host, for host_shares_faster(), and whether to ask the plan at all. Before the first
// attempt, by one thread.
void use_host_facts(const plan::HostFacts& measured, const plan::HostCollectives& table, plan::LearnedSides learned,
                    bool take_all);
// MILLRACE_ORDER=rank. Likewise.
void keep_rank_order(bool keeps);
// Whether a rank of MPI_Bcast that expects more than the root sends gets MPI_ERR_OTHER.
bool host_reports_short_bcast();
// Whether a call that reduces nothing is ours, by what was measured and is being measured (measured_calls.h), or what
// becomes of it; the same answer on every rank. Once for a call. `call.bytes`: of each block, -1 where ranks do
// not know it to be equal.
// `has_handles`: of datatypes that are not predefined, and by which `call` was made. `repeat`: as of
// attempt_collective(); what was asked.
Attempt whose_is(Communicator& communicator, const plan::EitherCall& call, bool has_handles, Repeat* repeat);

// `blocks`: memory for the lists of a call that moves data, made where there is none. `repeat`: filled in, where that
// is possible, for calls with the same words on the same communicator, if this one is good; null where nobody asks.
Attempt attempt_collective(Communicator& communicator, const CollectiveCall& call,
                           std::unique_ptr<KeptWithCommunicator>& blocks, Repeat* repeat) noexcept;

// What follows calls the host: no thread of ours may do it for a call in the background.
void keep_from_helpers();

// What has become of the ranks of a communicator.
const char* explanation(collective::Result result);

}  // namespace millrace::shim
