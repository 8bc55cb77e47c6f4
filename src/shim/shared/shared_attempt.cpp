#include "shim/shared/shared_attempt.h"

#include <algorithm>
#include <utility>

#include "collective/across/across.h"
#include "collective/background.h"
#include "collective/collective.h"
#include "kernel/copy/row.h"
#include "plan/host_facts.h"
#include "plan/hosts/hosts.h"
#include "plan/over_nodes.h"
#include "plan/shared_collectives.h"
#include "shim/bind/gaps.h"
#include "shim/call/scratch.h"
#include "shim/datatypes/datatypes.h"
#include "shim/datatypes/wire_types.h"
#include "shim/host/device_memory.h"
#include "shim/host/quiet_comm.h"
#include "shim/node/node_group.h"
#include "shim/reduce/reductions.h"
#include "shim/reduce/user_ops.h"
#include "shim/reduce/wire_ops.h"
#include "shim/shared/device_staging.h"
#include "shim/shared/exchange_attempt.h"
#include "shim/shared/host_verdict.h"
#include "shim/shared/learning.h"
#include "shim/shared/measured_calls.h"
#include "shim/shared/repeat.h"
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
bool keeps_order = false;        // MILLRACE_ORDER=rank

// ---- reductions ----

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
  kernel::Op op{};        // if it is
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
    found.op = op;
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

// A reduction as the group sees it.
struct ReductionCall {
  const CollectiveCall& call;
  const Reducer& reducer;
  std::size_t in_elements, out_elements;
  bool receives;                 // this rank
  collective::Blocking* blocks;  // of MPI_Reduce_scatter(_block), else null

  std::size_t in_bytes() const { return in_elements * reducer.element_bytes; }
  std::size_t out_bytes() const { return out_elements * reducer.element_bytes; }
};

// `elements`: all, or a piece of what has no blocks.
Result run(collective::Group& group, const ReductionCall& reduction, const void* in, void* out, std::size_t elements) {
  const Reducer& reducer = reduction.reducer;
  void* const to = reduction.receives ? out : nullptr;
  switch (reduction.call.kind) {
    case CollectiveKind::allreduce: return collective::allreduce(group, in, to, elements, reducer);
    case CollectiveKind::reduce_scatter: return collective::reduce_scatter(group, in, to, *reduction.blocks, reducer);
    case CollectiveKind::scan: return collective::scan(group, in, to, elements, reducer);
    case CollectiveKind::exscan: return collective::exscan(group, in, to, elements, reducer);
    default: break;
  }
  return collective::reduce(group, in, to, elements, reducer, static_cast<std::uint32_t>(reduction.call.root));
}

Attempt reduce_plainly(collective::Group& group, const ReductionCall& reduction, Word in, Word out) {
  return done(run(group, reduction, as_pointer(in), as_pointer(out), reduction.in_elements));
}

// Into memory of our own, out of which only data go to where the program wants them. `gaps`: of elements with bytes
// that are nobody's.
Attempt reduce_blocks_aside(collective::Group& group, const ReductionCall& reduction, Word in, Word out,
                            std::optional<kernel::Type> gaps) {
  const Scratch result = scratch(std::max<std::size_t>(reduction.out_bytes(), 1));
  if (!result) return failed_for_all(group, abi::err_intern);
  const Result reduced = run(group, reduction, as_pointer(in), result.get(), reduction.in_elements);
  if (reduced != Result::ok) return done(reduced);
  if (gaps)
    copy_without_gaps(*gaps, result.get(), as_pointer(out), reduction.out_elements);
  else if (reduction.out_elements != 0)
    kernel::copy_row(as_pointer(out), result.get(), reduction.out_bytes());
  return done(Result::ok);
}

// Elements with bytes that are not ours, in pieces. The datatype, and so the size of the pieces, is the same on all
// ranks.
Attempt reduce_around_gaps(collective::Group& group, const ReductionCall& reduction, Word in, Word out,
                           kernel::Type type) {
  const std::size_t element_bytes = reduction.reducer.element_bytes, elements = reduction.in_elements;
  const std::size_t piece_elements = (std::size_t{4} << 20) / element_bytes;
  const Scratch result = scratch(std::min(elements, piece_elements) * element_bytes);
  if (!result) return failed_for_all(group, abi::err_intern);
  const auto* from = static_cast<const char*>(as_pointer(in));
  auto* to = static_cast<char*>(as_pointer(out));
  for (std::size_t first = 0; first < elements; first += piece_elements) {
    const std::size_t length = std::min(piece_elements, elements - first);
    const std::size_t offset_bytes = first * element_bytes;
    const Result reduced = run(group, reduction, from + offset_bytes, result.get(), length);
    if (reduced != Result::ok) return done(reduced);
    if (reduction.receives) copy_without_gaps(type, result.get(), to + offset_bytes, length);
  }
  return done(Result::ok);
}

// Buffers that do not overlap, or are one. Of two bytes like `gaps`, stored one by one and read as a word to be passed
// on, a processor forwards nothing: by reference it is 5 ns less.
Attempt reduce_disjoint(collective::Group& group, const ReductionCall& reduction, Word in, Word out,
                        const std::optional<kernel::Type>& gaps) {
  if (reduction.blocks && (gaps || in == out)) return reduce_blocks_aside(group, reduction, in, out, gaps);
  return gaps ? reduce_around_gaps(group, reduction, in, out, *gaps) : reduce_plainly(group, reduction, in, out);
}

// With copies of the buffers that the processor cannot touch. In place, the result lies where the input begins.
Attempt reduce_staged(Communicator& communicator, const ReductionCall& reduction, Word in, Word out,
                      const std::optional<kernel::Type>& gaps) {
  keep_from_helpers();
  const auto element_bytes = static_cast<std::int64_t>(reduction.reducer.element_bytes);
  const auto elements = [&](Word address, std::size_t count) {
    return Elements{address, static_cast<std::int64_t>(count), reduction.call.datatype, element_bytes, element_bytes};
  };
  const bool separate = in != out || reduction.blocks || !reduction.receives;
  const TouchableElements result(elements(reduction.receives ? out : 0, reduction.out_elements));
  const TouchableElements input(elements(separate ? in : 0, reduction.in_elements));
  const TouchableElements& read = separate ? input : result;
  if (!result.has_memory() || !input.has_memory()) return copy_failed(communicator, abi::err_intern, true);
  if (const int error = read.fetch(); error != 0) return copy_failed(communicator, error, true);
  const Attempt attempt =
      reduce_disjoint(communicator.group->group(), reduction, read.address(), result.address(), gaps);
  if (!attempt.is_good() || !reduction.receives) return attempt;
  const int error = result.deliver();
  return error == 0 ? attempt : copy_failed(communicator, error, false);
}

// Buffers that overlap on this rank, which the others do not know: it must do its part. Hosts refuse a result in the
// place of the input, or take it for MPI_IN_PLACE; what overlaps otherwise they do not notice.
Attempt reduce_overlapping(collective::Group& group, const ReductionCall& reduction,
                           const std::optional<kernel::Type>& gaps) {
  const Word in = reduction.call.in, out = reduction.call.out;
  const bool rejected = in == out && host_rejects_alias(reduction.call);
  if (in == out && !rejected) return reduce_disjoint(group, reduction, out, out, gaps);
  const Scratch other = scratch(std::max(reduction.in_bytes(), reduction.out_bytes()));
  if (!other) return failed_for_all(group, abi::err_intern);
  if (!rejected) {
    kernel::copy_row(other.get(), as_pointer(in), reduction.in_bytes());
    return reduce_disjoint(group, reduction, as_word(other.get()), out, gaps);
  }
  // Nothing of the result is for this rank.
  const Attempt attempt = reduce_plainly(group, reduction, in, as_word(other.get()));
  return attempt.result() == Result::ok ? refused(Reason::buffers_overlap) : attempt;
}

// ---- the same once more ----

collective::Kind kind_of(CollectiveKind kind) {
  switch (kind) {
    case CollectiveKind::allreduce: return collective::Kind::allreduce;
    case CollectiveKind::reduce_scatter: return collective::Kind::reduce_scatter;
    case CollectiveKind::scan: return collective::Kind::scan;
    case CollectiveKind::exscan: return collective::Kind::exscan;
    default: return collective::Kind::reduce;
  }
}

// Buffers of which nobody has to know anything.
bool repeat_fits(const Repeat& repeat, Word in, Word out) noexcept {
  if (repeat.in_place) in = out;
  if (is_device_memory(in, repeat.receives ? out : 0)) return false;
  // Where they are in no cache they come while the others are waited for.
  shared_memory::prefetch_to_read(as_pointer(in));
  if (repeat.receives) shared_memory::prefetch_to_write(as_pointer(out));
  if (!repeat.receives || repeat.in_place) return true;
  return in < out ? out - in >= repeat.bytes : in - out >= repeat.out_bytes;
}

template <CollectiveKind kind>
Attempt run_again(const Repeat& repeat, Word first, Word second) noexcept {
  const void* const in = as_pointer(repeat.in_place ? second : first);
  void* const out = repeat.receives ? as_pointer(second) : nullptr;
  collective::Group& group = *repeat.group;
  if constexpr (kind == CollectiveKind::allreduce) {
    return done(collective::allreduce(group, repeat.known, in, out, repeat.elements, repeat.reducer));
  } else if constexpr (kind == CollectiveKind::reduce) {
    return done(collective::reduce(group, repeat.known, in, out, repeat.elements, repeat.reducer, repeat.root));
  } else if constexpr (kind == CollectiveKind::reduce_scatter) {
    const collective::Blocking blocks(repeat.elements / group.ranks(), group.ranks());
    return done(collective::reduce_scatter(group, repeat.known, in, out, blocks, repeat.reducer));
  } else {
    return done(collective::scan(group, repeat.known, in, out, repeat.elements, repeat.reducer));
  }
}

constexpr auto run_again_of(CollectiveKind kind) {
  switch (kind) {
    case CollectiveKind::allreduce: return run_again<CollectiveKind::allreduce>;
    case CollectiveKind::reduce: return run_again<CollectiveKind::reduce>;
    case CollectiveKind::reduce_scatter: return run_again<CollectiveKind::reduce_scatter>;
    default: return run_again<CollectiveKind::scan>;
  }
}

// The same of MPI_Reduce_scatter, whose counts are an array.
bool repeat_with_counts_fits(const Repeat& repeat, Word in, Word out) noexcept {
  return repeat.lists->counts.are(repeat.counts_number, repeat.counts) && repeat_fits(repeat, in, out);
}

Attempt run_again_with_counts(const Repeat& repeat, Word in, Word out) noexcept {
  return done(collective::reduce_scatter(*repeat.group, repeat.known, as_pointer(in), as_pointer(out),
                                         repeat.lists->counts.blocks(), repeat.reducer));
}

// Of a call whose buffers fit. Without a run() where it is not to be repeated.
Repeat repeat_of(collective::Group& group, const ReductionCall& reduction, const Asked& asked) {
  const CollectiveCall& call = reduction.call;
  const auto root = static_cast<std::uint32_t>(call.kind == CollectiveKind::reduce ? call.root : 0);
  Repeat repeat{.fits = repeat_fits,
                .asked = asked,
                .group = &group,
                .known = reduction.blocks
                             ? collective::known_reduce_scatter(group, *reduction.blocks, reduction.reducer)
                             : collective::known_reduction(group, kind_of(call.kind), reduction.in_bytes(),
                                                           reduction.reducer, root),
                .root = root,
                .bytes = reduction.in_bytes(),
                .reducer = reduction.reducer,
                .elements = reduction.in_elements,
                .out_bytes = reduction.out_bytes(),
                .in_place = call.in_place,
                .receives = reduction.receives};
  if (repeat.known.entry) repeat.run = run_again_of(call.kind);
  return repeat;
}

// What hangs on the counts, too. None of it where there is no memory for them.
void repeat_with_counts(Repeat& repeat, const CollectiveCall& call, std::span<const std::size_t> counts,
                        std::unique_ptr<KeptWithCommunicator>& kept) noexcept try {
  if (!kept) kept = std::make_unique<ExchangeBlocks>();
  repeat.lists = static_cast<ExchangeBlocks*>(kept.get());
  repeat.counts = {call.counts, call.has_wide_counts};
  repeat.counts_number = repeat.lists->counts.keep(counts);
  repeat.fits = repeat_with_counts_fits;
  if (repeat.run) repeat.run = run_again_with_counts;
} catch (...) {
  repeat.run = nullptr;
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
  return plan::host_does_by_table(by_table, call.kind, call.bytes);
}

// Of ranks on several nodes: not learned, and tried only where all wait for all (plan/evidence.h).
Attempt whose_over_nodes(Communicator& communicator, const plan::EitherCall& call, bool is_done, bool is_usual,
                         bool either, bool has_handles) {
  if (!is_done) return refused(Reason::not_over_nodes);
  const collective::Across& across = *communicator.group->group().across();
  const plan::NodesShape shape{across.map().ranks(), across.map().nodes(), across.map().is_even(), is_usual};
  const bool hosts = !takes_all && plan::host_crosses_faster(*facts, shape, call.kind, call.bytes);
  // Else ranks could not tell each other what they saw.
  if (!across.moves(collective::Kind::allgather, 1)) return hosts ? refused(Reason::host_is_faster) : Attempt::ours();
  return answered(whose_call(communicator, {call, hosts, either}), has_handles);
}

// Whose a nonblocking call that reduces nothing is, which is neither measured nor learned.
Attempt whose_begun(const Communicator& communicator, const plan::EitherCall& call) {
  const auto host_is_faster = communicator.is_persistent ? plan::host_starts_faster : plan::host_begins_faster;
  const bool hosts = !takes_all && host_is_faster(*facts, call.kind, call.bytes, communicator.group->group().crowded());
  return hosts ? refused(Reason::host_is_faster) : Attempt::ours();
}

// whose_is() of reductions. `bytes`: of what a rank contributes.
Attempt whose_reduction(Communicator& communicator, const CollectiveCall& call, std::uint64_t bytes,
                        const FoundOp& found, const Reducer& reducer, Repeat* repeat) {
  const auto flavor = static_cast<std::uint8_t>(found.op_class);
  const plan::EitherCall either{
      .kind = kind_of(call.kind),
      .flavor = static_cast<std::uint8_t>(call.counts ? flavor | plan::uneven_blocks : flavor),
      .bytes = static_cast<std::int64_t>(bytes),
      .root = call.kind == CollectiveKind::reduce ? call.root : -1};
  const collective::Group& group = communicator.group->group();
  if (const collective::Across* const across = group.across()) {
    const bool is_done = across->reduces(either.kind, reducer);
    // The host has an order of its own.
    if (is_done && reducer.in_rank_order) return Attempt::ours();
    return whose_over_nodes(communicator, either, is_done, !across->folds_rows(either.kind, reducer),
                            !call.counts && found.is_exact, !found.is_predefined || call.counts);
  }
  const std::optional<bool> told = found.is_predefined ? told_by_table(group, either)
                                                       : plan::host_does_by_table(by_table, either.kind, either.bytes);
  // Of two operands there is no other order, but for ops that the program says nothing of.
  const bool must_fold = reducer.in_rank_order && (group.ranks() > 2 || !found.is_predefined);
  if (communicator.is_background) return must_fold ? Attempt::ours() : whose_begun(communicator, either);
  const bool hosts = !takes_all && !must_fold &&
                     told.value_or(plan::host_shares_faster(*facts, either.kind, bytes, group.ranks(), group.crowded(),
                                                            group.reads_memory()));
  // Not to be tried: MPICH 5 ends the program where blocks of MPI_Reduce_scatter differ and are reduced in place.
  // Exscan of two only moves data; but hosts write what lies between elements (MPICH: of long doubles), and we do not.
  const bool only_moves = call.kind == CollectiveKind::exscan && group.ranks() == 2 && !found.gaps;
  const bool either_may =
      !must_fold && !call.counts && (found.is_exact || (found.is_predefined && (only_moves || learns())));
  // What an array of counts holds is not seen by its address.
  const Asked asked{either, hosts, either_may};
  if (repeat) repeat->asked = asked;
  return answered(whose_call(communicator, asked), !found.is_predefined || call.counts);
}

// The counts of MPI_Reduce_scatter as numbers of elements, and as many places behind them. Null: no memory, or one is
// negative (`is_wrong`).
Scratch block_counts(const CollectiveCall& call, std::uint32_t ranks, bool& is_wrong) {
  Scratch memory = scratch(std::size_t{2} * ranks * sizeof(std::size_t));
  auto* const counts = reinterpret_cast<std::size_t*>(memory.get());
  for (std::uint32_t rank = 0; memory && rank < ranks; ++rank) {
    const std::int64_t count = call.has_wide_counts ? static_cast<const std::int64_t*>(call.counts)[rank]
                                                    : static_cast<const int*>(call.counts)[rank];
    is_wrong = is_wrong || count < 0 || count > std::int64_t{1} << 40;
    counts[rank] = static_cast<std::size_t>(count);
  }
  return memory;
}

Attempt attempt_reduction(Communicator& communicator, const CollectiveCall& call,
                          std::unique_ptr<KeptWithCommunicator>& kept, Repeat* repeat) {
  const auto ranks = static_cast<std::uint32_t>(communicator.ranks);
  const auto self = static_cast<std::uint32_t>(communicator.rank);
  if (call.count < 0) return refused(Reason::invalid_argument);
  if (call.kind == CollectiveKind::reduce && (call.root < 0 || call.root >= communicator.ranks))
    return refused(Reason::invalid_argument);
  Scratch counts;
  std::optional<collective::Blocking> blocks;
  if (call.kind == CollectiveKind::reduce_scatter && !call.counts) {
    if (call.count > std::int64_t{1} << 40) return refused(Reason::large_count);
    blocks.emplace(static_cast<std::size_t>(call.count), ranks);
  } else if (call.counts) {
    bool is_wrong = false;
    counts = block_counts(call, ranks, is_wrong);
    if (is_wrong) return refused(Reason::invalid_argument);
    if (!counts) return failed_for_all(communicator.group->group(), abi::err_intern);
    auto* const first = reinterpret_cast<std::size_t*>(counts.get());
    blocks.emplace(blocking_of({first, ranks}, {first + ranks, ranks}));
  }
  const auto in_elements = blocks ? blocks->elements() : static_cast<std::size_t>(call.count);
  const auto out_elements = blocks ? blocks->count(self) : in_elements;
  if (in_elements == 0) return refused_nothing(!call.counts);
  UserOp user{call.datatype, call.op, 0};
  Reducer reducer;
  FoundOp found;
  if (const Reason reason = find_reducer(call, user, reducer, found); reason != Reason::none) return refused(reason);
  // The host applies it, which it may do inside the program's calls only; and those may wait for it.
  if (communicator.is_background && reducer.user) return refused(Reason::op_not_covered);
  reducer.in_rank_order = keeps_order && !(found.is_predefined && found.is_exact);
  if (communicator.nodes) {
    reducer.host_type = call.datatype;
    reducer.host_op = found.is_predefined ? wire_op(found.op) : call.op;
  }
  std::uint64_t bytes = 0;
  if (__builtin_mul_overflow(std::uint64_t{in_elements}, std::uint64_t{reducer.element_bytes}, &bytes) ||
      bytes > std::uint64_t{1} << 62)
    return refused(Reason::large_count);

  // What only this rank knows comes first: a call that it cannot make is none, to the others.
  const bool receives = call.kind == CollectiveKind::reduce   ? communicator.rank == call.root
                        : call.kind == CollectiveKind::exscan ? self != 0
                                                              : true;
  const ReductionCall reduction{call, reducer, in_elements, out_elements, receives, blocks ? &*blocks : nullptr};
  if (call.in_place && call.kind == CollectiveKind::reduce && !receives) return refused(Reason::invalid_argument);
  const Word in = call.in_place ? call.out : call.in;
  if (in == 0 || (receives && out_elements != 0 && call.out == 0)) return refused(Reason::invalid_argument);
  if (const Attempt answer = whose_reduction(communicator, call, bytes, found, reducer, repeat); answer.is_decided())
    return answer;

  if (is_device_memory(in, receives ? call.out : 0))
    return reduce_staged(communicator, reduction, in, call.out, found.gaps).with_error(user.error);
  collective::Group& group = communicator.group->group();
  const bool overlap = call.in < call.out ? call.out - call.in < bytes : call.in - call.out < reduction.out_bytes();
  // What goes by reduce_plainly().
  // (Counts may have changed before a call in the background is done.)
  if (repeat && !group.across() && found.is_predefined && !found.gaps && is_predefined(call.datatype) &&
      bytes <= Repeat::most_bytes && (call.in_place || !receives || !overlap) && !(blocks && call.in_place) &&
      !(call.counts && (communicator.is_background || out_elements == 0))) {
    *repeat = repeat_of(group, reduction, repeat->asked);
    if (call.counts)
      repeat_with_counts(*repeat, call, {reinterpret_cast<const std::size_t*>(counts.get()), ranks}, kept);
  }
  const Attempt attempt = receives && !call.in_place && overlap
                              ? reduce_overlapping(group, reduction, found.gaps)
                              : reduce_disjoint(group, reduction, in, call.out, found.gaps);
  return attempt.with_error(user.error);
}

Attempt attempt_barrier(Communicator& communicator, Repeat* repeat) {
  const Attempt answer = whose_is(communicator, {.kind = collective::Kind::barrier}, false, repeat);
  if (answer.is_decided()) return answer;
  collective::Group& group = communicator.group->group();
  if (repeat && !group.across())
    *repeat = {.fits = [](const Repeat&, Word, Word) noexcept { return true; },
               .run = [](const Repeat& known, Word,
                         Word) noexcept { return done(collective::barrier(*known.group, known.known)); },
               .asked = repeat->asked,
               .group = &group,
               .known = collective::known_barrier(group)};
  return done(collective::barrier(group));
}

}  // namespace

void use_host_facts(const plan::HostFacts& measured, const plan::HostCollectives& table, plan::LearnedSides learned,
                    bool take_all) {
  facts = &measured;
  by_table = table;
  by_learning = std::move(learned);
  takes_all = take_all;
}

void keep_rank_order(bool keeps) { keeps_order = keeps; }

void keep_from_helpers() {
  if (collective::BackgroundCall* const call = collective::BackgroundCall::current()) call->keep_from_helpers();
}

const char* explanation(collective::Result result) {
  switch (result) {
    case collective::Result::mismatch:
      return "the ranks of the communicator called different collectives, or with different sizes or roots";
    case collective::Result::rank_failed:
      return "a rank of the communicator could not do its part of this call or an earlier one; its own error says why";
    case collective::Result::truncated: return "more came than the counts of this rank have room for";
    default: return "another rank of the communicator has died";
  }
}

bool host_reports_short_bcast() { return facts->reports_short_bcast; }

Attempt whose_is(Communicator& communicator, const plan::EitherCall& call, bool has_handles, Repeat* repeat) {
  if (communicator.is_background) {
    const Attempt answer = whose_begun(communicator, call);
    return answer.is_decided() && !has_handles ? answer.as_by_words() : answer;
  }
  const collective::Group& group = communicator.group->group();
  if (const collective::Across* const across = group.across()) {
    // Of MPI_Allgatherv the counts decide nothing.
    const bool publishes = call.kind == collective::Kind::allgather && call.bytes < 0;
    const auto size = static_cast<std::uint64_t>(std::max<std::int64_t>(call.bytes, 0));
    const bool is_done = publishes ? across->publishes() : across->moves(call.kind, size);
    return whose_over_nodes(communicator, call, is_done, !publishes, !publishes, has_handles);
  }
  const bool shares = call.kind == collective::Kind::barrier || call.kind == collective::Kind::bcast;
  const std::optional<bool> told = told_by_table(group, call);
  const bool hosts =
      !takes_all &&
      (told     ? *told
       : shares ? plan::host_shares_faster(*facts, call.kind,
                                           static_cast<std::size_t>(std::max<std::int64_t>(call.bytes, 0)),
                                           group.ranks(), group.crowded(), group.reads_memory())
                : plan::host_exchanges_faster(*facts, call.kind, call.bytes, group.ranks(), group.crowded()));
  const Asked asked{call, hosts, true};
  if (repeat) repeat->asked = asked;
  return answered(whose_call(communicator, asked), has_handles);
}

Attempt attempt_collective(Communicator& communicator, const CollectiveCall& call,
                           std::unique_ptr<KeptWithCommunicator>& blocks, Repeat* repeat) noexcept {
  switch (call.kind) {
    case CollectiveKind::barrier: return attempt_barrier(communicator, repeat);
    case CollectiveKind::bcast: return attempt_bcast(communicator, call, repeat);
    case CollectiveKind::exchange: return attempt_exchange(communicator, *call.exchange, blocks, repeat);
    default: return attempt_reduction(communicator, call, blocks, repeat);
  }
}

}  // namespace millrace::shim
