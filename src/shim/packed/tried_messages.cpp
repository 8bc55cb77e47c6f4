#include "shim/packed/tried_messages.h"

#include <fmt/format.h>

#include <new>
#include <span>

#include "base/clock.h"
#include "base/log.h"
#include "shim/packed/counted_messages.h"
#include "shim/packed/host_call.h"
#include "shim/packed/policy.h"

namespace millrace::shim {
namespace {

using plan::MessageTrials;
using plan::Side;
using record::Reason;

constinit thread_local MessageTrials* trials_of_thread __attribute__((tls_model("initial-exec"))) = nullptr;

// Frees them where a thread ends; what the destructors of others send after that is counted anew.
struct Ending {
  ~Ending() {
    counted_messages.fill({});
    delete trials_of_thread;
    trials_of_thread = nullptr;
  }
  void touch() {}
};
thread_local Ending ending_of_thread;

// Null: no memory.
MessageTrials* own_trials() {
  if (!trials_of_thread) [[unlikely]] {
    trials_of_thread =
        new (std::nothrow) MessageTrials(messages_are_measured_eagerly(), monotonic_ns, layouts_begin_ns());
    ending_of_thread.touch();
  }
  return trials_of_thread;
}

// Where such a message is remembered; null: it cannot be.
CountedMessage* counted_place(const HostCall& call) {
  const std::span<const Word> words = call.words();
  if (!may_be_counted(call.symbol(), words.size())) return nullptr;
  return &counted_place_of(call.symbol(), words[CountedPlaces::datatype], words[CountedPlaces::peer]);
}

bool holds_for(const CountedMessage& known, const HostCall& call) {
  using At = CountedPlaces;
  const std::span<const Word> words = call.words();
  return holds(known, call.symbol(), words[At::datatype], words[At::count], words[At::peer], words[At::comm]);
}

void remember_counted(CountedMessage& place, const HostCall& call, const MessageTrials& trials,
                      const MessageTrials::Answer& answer, Reason reason) {
  using At = CountedPlaces;
  const std::span<const Word> words = call.words();
  place = {.symbol = call.symbol(),
           .epoch = datatype_epoch.load(std::memory_order_acquire),
           .datatype = words[At::datatype],
           .count = words[At::count],
           .peer = words[At::peer],
           .comm = words[At::comm],
           .number = answer.number,
           .next = answer.next,
           .version = &trials.version(),
           .chosen = trials.version(),
           .reason = reason};
}

constexpr WhoseMessage final(Reason reason) { return {reason, true}; }

void say(const MessageTrials::Change& change) {
  log(LogLevel::info,
      fmt::format("messages of {}, {} bytes and some more: {} {:.2f} of the time, so {} them from now on",
                  plan::layout_class_name(change.message.layout_class),
                  plan::least_bytes(plan::size_class(change.message.bytes)),
                  change.choice == Side::host ? "the host takes" : "packed by us they take", change.ratio,
                  change.choice == Side::host ? "it does" : "we do"));
}

}  // namespace

WhoseMessage whose_message(const HostCall& call, const Carried& carried, Reason by_table, PeerPlaces peer,
                           bool goes_out, plan::MessageForm form) {
  const bool may_be_either = by_table == Reason::none || by_table == Reason::host_is_faster;
  if (!may_be_either || carried.bytes < MessageTrials::least_bytes || !messages_are_measured()) return final(by_table);
  CountedMessage* const place = peer.is_known() ? counted_place(call) : nullptr;
  if (place && holds_for(*place, call)) {
    ++*place->number;
    return {place->reason, false};
  }
  MessageTrials* const trials = own_trials();
  if (!trials) return final(by_table);
  const layout::Layout& layout = *carried.layout;
  const plan::EitherMessage message{
      .layout_class = plan::layout_class(carried.is_mixed, layout.is_list(), layout.mean_block_bytes(), carried.bytes,
                                         layout.touched_bytes(carried.count)),
      .form = form,
      .bytes = carried.bytes,
      .standard = by_table == Reason::none ? Side::ours : Side::host};
  const plan::MessagePeer other{.comm = peer.is_known() ? call.comm(peer.comm) : 0,
                                .rank = peer.is_known() ? call.integer(peer.rank) : -1,
                                .goes_out = goes_out};
  const MessageTrials::Answer answer = trials->choose(message, other);
  if (const auto change = trials->take_change()) [[unlikely]]
    say(*change);
  Reason reason = Reason::none;
  if (answer.side == Side::host && message.standard == Side::host)
    reason = Reason::host_is_faster;
  else if (answer.side == Side::host)
    reason = answer.is_tried ? Reason::tried : Reason::host_was_faster;
  if (place && answer.number) remember_counted(*place, call, *trials, answer, reason);
  return {reason, answer.is_final};
}

}  // namespace millrace::shim
