#include "shim/shared/shared_attempt.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "collective/collective.h"
#include "plan/host_facts.h"
#include "plan/hosts/hosts.h"
#include "plan/shared_collectives.h"
#include "shim/bind/gaps.h"
#include "shim/call/scratch.h"
#include "shim/datatypes/wire_types.h"
#include "shim/host/device_memory.h"
#include "shim/host/host_progress.h"
#include "shim/node/node_group.h"
#include "shim/reduce/reductions.h"
#include "shim/reduce/user_ops.h"
#include "shim/shared/device_staging.h"
#include "shim/shared/exchange_attempt.h"
#include "shim/shared/host_verdict.h"
#include "shim/shared/learning.h"
#include "shim/shared/measured_calls.h"
#include "shim/shared/shared_bcast.h"

namespace millrace::shim {
namespace {

using collective::Reducer;
using collective::Result;
using record::Reason;

const plan::HostFacts* facts = &plan::hosts::unknown;
plan::HostCollectives by_table;  // of MILLRACE_TUNING
plan::LearnedSides by_learning;  // of the same
bool takes_all = false;          // MILLRACE_COLLECTIVES=always

// ---- MPI_Reduce, MPI_Allreduce ----

struct UserOp {
  Word datatype;
  Word op;
  int error;
};

// The host applies the op, in whatever language its function is written: it knows the handles that it must pass.
void apply_user_op(void* context, const void* in, void* inout, std::size_t elements) {
  auto& user = *static_cast<UserOp*>(context);
  const auto* from = static_cast<const char*>(in);
  const int error = host<Symbol::MPI_Reduce_local>(as_word(from), as_word(inout), elements, user.datatype, user.op);
  if (error != 0) user.error = error;
}

// Of the last predefined op and type of this thread: to find all forms of a kernel takes longer than to reduce a few
// elements.
struct KnownReducer {
  int algorithm = -1;
  Reducer reducer;
};
thread_local constinit KnownReducer known_reducer __attribute__((tls_model("initial-exec")));

const Reducer& reducer_of(const Reduction& reduction) {
  if (known_reducer.algorithm != reduction.algorithm) {
    const auto type = static_cast<kernel::Type>(reduction.algorithm % kernel::type_count);
    const auto op = static_cast<kernel::Op>(reduction.algorithm / kernel::type_count);
    known_reducer = {reduction.algorithm, collective::kernel_reducer(op, type)};
  }
  return known_reducer.reducer;
}

// What find_reducer() finds out beside the reducer.
struct FoundOp {
  std::optional<kernel::Type> gaps;  // of elements with bytes that belong to nobody
  plan::OpClass op_class = plan::OpClass::other;
  bool is_predefined = false;
  bool is_exact = false;  // the result is the same whoever reduces
};

// Why the host must do it, or Reason::none with `reducer` filled in.
Reason find_reducer(const CollectiveCall& call, UserOp& user, Reducer& reducer, FoundOp& found) {
  if (const Reduction* reduction = find_reduction(call.datatype, call.op)) {
    if (reduction->refusal == Reason::disabled) return Reason::disabled;
    const auto type = static_cast<kernel::Type>(reduction->algorithm % kernel::type_count);
    const auto op = static_cast<kernel::Op>(reduction->algorithm / kernel::type_count);
    reducer = reducer_of(*reduction);
    if (reducer.element_bytes == 0) return Reason::type_not_covered;
    if (has_gaps(type)) found.gaps = type;
    found.op_class = plan::op_class(op, type);
    found.is_predefined = true;
    found.is_exact = is_exact(op, type);
    return Reason::none;
  }
  if (covers_op(call.op)) return Reason::type_not_covered;
  const std::optional<bool> commutes = user_op_commutes(call.op);
  if (!commutes) return Reason::op_not_covered;
  const std::optional<WireType> type = wire_type(call.datatype);
  if (!type || !type->gapless || type->extent_bytes <= 0) return Reason::type_not_covered;
  if (!type->plain && !is_committed(call.datatype)) return Reason::invalid_argument;
  reducer = {};
  reducer.element_bytes = static_cast<std::size_t>(type->extent_bytes);
  reducer.commutative = *commutes;
  reducer.user = apply_user_op;
  reducer.context = &user;
  return Reason::none;
}

Result run(collective::Group& group, const CollectiveCall& call, const void* in, void* out, std::size_t elements,
           const Reducer& reducer) {
  if (call.kind == CollectiveKind::allreduce) return collective::allreduce(group, in, out, elements, reducer);
  return collective::reduce(group, in, out, elements, reducer, static_cast<std::uint32_t>(call.root));
}

// Elements with bytes that are not ours: results come into memory of our own, in pieces, and only data go from there.
// The datatype, and so the size of the pieces, is the same on all ranks.
Attempt reduce_around_gaps(collective::Group& group, const CollectiveCall& call, Word in, bool receives,
                           const Reducer& reducer, kernel::Type type) {
  const std::size_t piece_elements = (std::size_t{4} << 20) / reducer.element_bytes;
  const auto elements = static_cast<std::size_t>(call.count);
  const Scratch result = scratch(std::min(elements, piece_elements) * reducer.element_bytes);
  if (!result) return failed_for_all(group, abi::err_intern);
  const auto* from = static_cast<const char*>(as_pointer(in));
  auto* to = static_cast<char*>(as_pointer(call.out));
  for (std::size_t first = 0; first < elements; first += piece_elements) {
    const std::size_t length = std::min(piece_elements, elements - first);
    const std::size_t offset_bytes = first * reducer.element_bytes;
    const Result reduced = run(group, call, from + offset_bytes, receives ? result.get() : nullptr, length, reducer);
    if (reduced != Result::ok) return done(reduced);
    if (receives) copy_without_gaps(type, result.get(), to + offset_bytes, length);
  }
  return done(Result::ok);
}

// With copies of the buffers that the processor cannot touch. `out`: 0 on a rank that receives nothing.
Attempt reduce_staged(Communicator& communicator, const CollectiveCall& call, Word in, Word out, const Reducer& reducer,
                      std::optional<kernel::Type> gaps) {
  const auto element_bytes = static_cast<std::int64_t>(reducer.element_bytes);
  const TouchableElements result({out, call.count, call.datatype, element_bytes, element_bytes});
  const TouchableElements input({in == out ? 0 : in, call.count, call.datatype, element_bytes, element_bytes});
  const TouchableElements& read = in == out ? result : input;
  if (!result.has_memory() || !input.has_memory()) return copy_failed(communicator, abi::err_intern, true);
  if (const int error = read.fetch(); error != 0) return copy_failed(communicator, error, true);
  CollectiveCall staged = call;
  staged.out = result.address();
  collective::Group& group = communicator.group->group();
  const auto elements = static_cast<std::size_t>(call.count);
  const bool receives = out != 0;
  const Attempt attempt = gaps ? reduce_around_gaps(group, staged, read.address(), receives, reducer, *gaps)
                               : done(run(group, staged, as_pointer(read.address()),
                                          receives ? as_pointer(staged.out) : nullptr, elements, reducer));
  if (!attempt.is_good() || !receives) return attempt;
  const int error = result.deliver();
  return error == 0 ? attempt : copy_failed(communicator, error, false);
}

Attempt reduce_disjoint(collective::Group& group, const CollectiveCall& call, Word in, bool receives,
                        const Reducer& reducer, std::optional<kernel::Type> gaps) {
  if (gaps) return reduce_around_gaps(group, call, in, receives, reducer, *gaps);
  const auto elements = static_cast<std::size_t>(call.count);
  return done(run(group, call, as_pointer(in), receives ? as_pointer(call.out) : nullptr, elements, reducer));
}

// Buffers that overlap on this rank, which the others do not know: it must do its part. Hosts refuse a result in the
// place of the input, or take it for MPI_IN_PLACE; what overlaps otherwise they do not notice.
Attempt reduce_overlapping(collective::Group& group, const CollectiveCall& call, std::size_t bytes,
                           const Reducer& reducer, std::optional<kernel::Type> gaps) {
  const bool same = call.in == call.out;
  const bool rejected = same && host_rejects_alias(call);
  if (same && !rejected) return reduce_disjoint(group, call, call.out, true, reducer, gaps);
  const Scratch other = scratch(bytes);
  if (!other) return failed_for_all(group, abi::err_intern);
  if (!rejected) {
    std::memcpy(other.get(), as_pointer(call.in), bytes);
    return reduce_disjoint(group, call, as_word(other.get()), true, reducer, gaps);
  }
  // Nothing of the result is for this rank.
  const auto elements = static_cast<std::size_t>(call.count);
  const Attempt attempt = done(run(group, call, as_pointer(call.in), other.get(), elements, reducer));
  return attempt.result() == Result::ok ? refused(Reason::buffers_overlap) : attempt;
}

Attempt answered(const Whose& whose, bool has_handles) {
  if (whose.result != Result::ok) return done(whose.result);
  if (whose.reason == Reason::none) return Attempt::ours();
  const Attempt attempt = refused(whose.reason);
  return !has_handles && whose.reason != Reason::tried ? attempt.as_by_words() : attempt;
}

// Whether the tuning table leaves a call to the host; nothing if it does not say.
std::optional<bool> told_by_table(const collective::Group& group, const plan::EitherCall& call) {
  if (!by_learning.empty())
    if (const std::optional<plan::Side> side = by_learning.find(call, group.ranks(), group.crowded()))
      return *side == plan::Side::host;
  const std::optional<std::uint64_t> bytes =
      call.bytes < 0 ? std::nullopt : std::optional(static_cast<std::uint64_t>(call.bytes));
  return plan::host_does_by_table(by_table, call.kind, bytes);
}

// whose_is() of reductions.
Attempt whose_reduction(Communicator& communicator, const CollectiveCall& call, std::uint64_t bytes,
                        const FoundOp& found) {
  const bool all = call.kind == CollectiveKind::allreduce;
  const plan::EitherCall either{.kind = all ? collective::Kind::allreduce : collective::Kind::reduce,
                                .flavor = static_cast<std::uint8_t>(found.op_class),
                                .bytes = static_cast<std::int64_t>(bytes),
                                .root = all ? -1 : call.root};
  const collective::Group& group = communicator.group->group();
  const std::optional<bool> told =
      found.is_predefined ? told_by_table(group, either) : plan::host_does_by_table(by_table, either.kind, bytes);
  const bool hosts = !takes_all && told.value_or(plan::host_shares_faster(*facts, either.kind, bytes, group.ranks(),
                                                                          group.crowded(), group.reads_memory()));
  return answered(whose_call(communicator, either, hosts, found.is_exact || (found.is_predefined && learns())),
                  !found.is_predefined);
}

Attempt attempt_reduction(Communicator& communicator, const CollectiveCall& call) {
  const bool all = call.kind == CollectiveKind::allreduce;
  if (call.count < 0) return refused(Reason::invalid_argument);
  if (call.count == 0) return refused(Reason::host_is_faster);  // nothing to do there either
  if (!all && (call.root < 0 || call.root >= communicator.ranks)) return refused(Reason::invalid_argument);
  UserOp user{call.datatype, call.op, 0};
  Reducer reducer;
  FoundOp found;
  if (const Reason reason = find_reducer(call, user, reducer, found); reason != Reason::none) return refused(reason);
  const std::optional<kernel::Type> gaps = found.gaps;
  std::uint64_t bytes = 0;
  if (__builtin_mul_overflow(static_cast<std::uint64_t>(call.count), std::uint64_t{reducer.element_bytes}, &bytes) ||
      bytes > std::uint64_t{1} << 62)
    return refused(Reason::large_count);

  // What only this rank knows comes first: a call that it cannot make is none, to the others.
  const bool receives = all || communicator.rank == call.root;
  if (call.in_place && !receives) return refused(Reason::invalid_argument);
  const Word in = call.in_place ? call.out : call.in;
  if (in == 0 || (receives && call.out == 0)) return refused(Reason::invalid_argument);
  if (const Attempt answer = whose_reduction(communicator, call, bytes, found); answer.is_decided()) return answer;

  if (is_device_memory(in, receives ? call.out : 0)) {
    return reduce_staged(communicator, call, in, receives ? call.out : 0, reducer, gaps).with_error(user.error);
  }
  collective::Group& group = communicator.group->group();
  const Word distance = in > call.out ? in - call.out : call.out - in;
  const Attempt attempt = receives && !call.in_place && distance < bytes
                              ? reduce_overlapping(group, call, bytes, reducer, gaps)
                              : reduce_disjoint(group, call, in, receives, reducer, gaps);
  return attempt.with_error(user.error);
}

}  // namespace

void use_host_facts(const plan::HostFacts& measured, const plan::HostCollectives& table, plan::LearnedSides learned,
                    bool take_all) {
  facts = &measured;
  by_table = table;
  by_learning = std::move(learned);
  takes_all = take_all;
}

bool host_reports_short_bcast() { return facts->reports_short_bcast; }

Attempt whose_is(Communicator& communicator, const plan::EitherCall& call, bool has_handles) {
  const collective::Group& group = communicator.group->group();
  const bool shares = call.kind == collective::Kind::barrier || call.kind == collective::Kind::bcast;
  const std::optional<std::uint64_t> bytes =
      call.bytes < 0 ? std::nullopt : std::optional(static_cast<std::uint64_t>(call.bytes));
  const std::optional<bool> told = told_by_table(group, call);
  const bool hosts =
      !takes_all && (told     ? *told
                     : shares ? plan::host_shares_faster(*facts, call.kind, bytes.value_or(0), group.ranks(),
                                                         group.crowded(), group.reads_memory())
                              : plan::host_exchanges_faster(*facts, call.kind, bytes, group.crowded()));
  return answered(whose_call(communicator, call, hosts, true), has_handles);
}

Attempt attempt_collective(Communicator& communicator, const CollectiveCall& call) noexcept {
  switch (call.kind) {
    case CollectiveKind::barrier: {
      const Attempt answer = whose_is(communicator, {.kind = collective::Kind::barrier}, false);
      return answer.is_decided() ? answer : done(collective::barrier(communicator.group->group()));
    }
    case CollectiveKind::bcast: return attempt_bcast(communicator, call);
    case CollectiveKind::reduce:
    case CollectiveKind::allreduce: return attempt_reduction(communicator, call);
    case CollectiveKind::exchange: return attempt_exchange(communicator, *call.exchange);
  }
  return refused(Reason::not_accelerated);
}

}  // namespace millrace::shim
