// Whether a message of a derived datatype is packed by us, by what was measured in this job (plan/message_trials.h):
// the part that has a clock and a communicator.
#pragma once

#include <cstddef>

#include "plan/message_trials.h"
#include "record/record.h"

namespace millrace::shim {

class HostCall;
struct Carried;

// Positions of words of a call that say who is at the other end of a message.
struct PeerPlaces {
  static constexpr std::size_t none = ~std::size_t{0};
  std::size_t rank = none, comm = none;
  bool is_known() const { return rank != none; }
};

struct WhoseMessage {
  record::Reason reason;  // none: it is ours
  bool is_final;          // it holds for all messages of this type, count and entry
};
// `by_table`: policy_on()'s answer. Once for each message of which `peer` is known, in the order of the program.
WhoseMessage whose_message(const HostCall& call, const Carried& carried, record::Reason by_table, PeerPlaces peer,
                           bool goes_out, plan::MessageForm form);

}  // namespace millrace::shim
