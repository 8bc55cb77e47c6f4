#include "shim/shared/shared_collectives.h"

#include <fmt/format.h>

#include <string_view>

#include "base/clock.h"
#include "base/file_name.h"
#include "base/log.h"
#include "plan/collective.h"
#include "shim/bind/observed.h"
#include "shim/call/disabled_entries.h"
#include "shim/call/exchange_call.h"
#include "shim/call/forwarded_collective.h"
#include "shim/host/fault_tolerance.h"
#include "shim/host/hidden_errors.h"
#include "shim/host/host_progress.h"
#include "shim/host/library_version.h"
#include "shim/host/tuning.h"
#include "shim/node/node_agreement.h"
#include "shim/node/node_group.h"
#include "shim/node/nodes_group.h"
#include "shim/reduce/op_substitution.h"
#include "shim/reduce/reductions.h"
#include "shim/reduce/wire_ops.h"
#include "shim/shared/background_calls.h"
#include "shim/shared/exchange_attempt.h"
#include "shim/shared/late_ranks.h"
#include "shim/shared/learning.h"
#include "shim/shared/measured_calls.h"
#include "shim/shared/remembered_calls.h"
#include "shim/shared/savings.h"
#include "shim/shared/shared_attempt.h"

namespace millrace::shim {

constinit std::atomic<bool> shared_collectives_active{false};
constinit std::atomic<record::Reason> why_not_shared{record::Reason::not_accelerated};

namespace {

using record::Reason;

collective::Waiting waiting_of(WaitMode wait) {
  using collective::Waiting;
  switch (wait) {
    case WaitMode::automatic: break;
    case WaitMode::spin: return Waiting::spin;
    case WaitMode::yield: return Waiting::yield;
    case WaitMode::sleep: return Waiting::sleep;
  }
  return Waiting::automatic;
}

template <std::size_t... positions>
Word call_with(void* next, std::span<const Word> words, std::index_sequence<positions...>) {
  return call(next, words[positions]...);
}

// Collectives have 1 to 10 words.
Word call_next(void* next, std::span<const Word> words) {
  switch (words.size()) {
    case 1: return call_with(next, words, std::make_index_sequence<1>{});
    case 2: return call_with(next, words, std::make_index_sequence<2>{});
    case 5: return call_with(next, words, std::make_index_sequence<5>{});
    case 6: return call_with(next, words, std::make_index_sequence<6>{});
    case 7: return call_with(next, words, std::make_index_sequence<7>{});
    case 8: return call_with(next, words, std::make_index_sequence<8>{});
    case 9: return call_with(next, words, std::make_index_sequence<9>{});
    default: return call_with(next, words, std::make_index_sequence<10>{});
  }
}

Word* error_argument(const CollectiveCall& call, std::span<Word> words) {
  return call.from_fortran && words.back() != 0 ? &words.back() : nullptr;
}

int error_of(const CollectiveCall& call, std::span<Word> words, Word returned) {
  if (!call.from_fortran) return as_int(returned);
  const Word* error = error_argument(call, words);
  return error ? *static_cast<const int*>(as_pointer(*error)) : 0;
}

Word return_error(const CollectiveCall& call, std::span<Word> words, int error) {
  if (const Word* argument = error_argument(call, words)) *static_cast<int*>(as_pointer(*argument)) = error;
  return as_word(error);
}

int raise(const Communicator& communicator, Symbol symbol, collective::Result result) {
  const bool truncated = result == collective::Result::truncated;  // the host's own error, about which it says enough
  const int error = truncated ? abi::err_truncate : abi::err_intern;
  log(truncated ? LogLevel::info : LogLevel::error,
      fmt::format("{} on rank {} of {}: {}", entry_names()[static_cast<std::size_t>(symbol_entry(symbol))],
                  communicator.rank, communicator.ranks, explanation(result)));
  host<Symbol::MPI_Comm_call_errhandler>(communicator.handle, as_word(error));
  return error;
}

std::uint16_t algorithm_of(const CollectiveCall& call) {
  const int exchange = call.kind == CollectiveKind::exchange ? static_cast<int>(call.exchange->shape.kind) : 0;
  return static_cast<std::uint16_t>(first_shared_algorithm + static_cast<int>(call.kind) + exchange);
}

// Where a call that is ours is done.
std::uint16_t algorithm_of(const CollectiveCall& call, const Communicator& communicator) {
  return static_cast<std::uint16_t>(algorithm_of(call) + (communicator.nodes ? shared_algorithms : 0));
}

struct Done {
  Word result;
  Outcome outcome;
};

// No rank leaves before all have come.
bool synchronises(const CollectiveCall& call) {
  const bool for_all = call.kind == CollectiveKind::allreduce || (call.kind == CollectiveKind::reduce_scatter);
  return call.kind == CollectiveKind::barrier || (for_all && !call.counts && call.count > 0);
}

void note_leaving(Communicator& communicator, const CollectiveCall& call, std::uint16_t entry, bool has_failed,
                  ObservedCall& observed) {
  if (has_failed)
    failed_in_call(communicator);
  else
    left_call(communicator, call, entry, observed.stop());
}

// The host does it, and the ranks of the communicator come a step nearer to sharing memory.
Word leave_to_host(Symbol symbol, void* next, std::span<Word> words, const CollectiveCall& call,
                   Communicator* communicator, Reason reason, ObservedCall* observed) {
  const auto entry = static_cast<std::uint16_t>(symbol_entry(symbol));
  const std::uint64_t serial = communicator ? communicator->serial : 0;
  const bool is_new = communicator && communicator->stage == Communicator::Stage::undecided;
  const bool may_have_failed = is_new && may_hide_errors(call.comm);
  const std::uint64_t begin_ns = is_new ? monotonic_ns() : 0;
  Word result;
  {
    announce_traffic();
    const InsideHost inside;
    const ForwardedCollective forwarded(entry, call.from_fortran, call.comm);
    result = call_next(next, words);
  }
  const int error = error_of(call, words, result);
  if (!communicator) {
    // Made out of our sight: it is remembered as the host's. Not where it may be no communicator at all.
    if (error == 0 && !host_hides_errors()) register_communicator(call.comm, nullptr);
    return result;
  }
  // Its error handler may have freed it, and the host may say even then that there was no error (MPICH 5's ABI
  // library).
  communicator = find_communicator(call.comm);
  if (!communicator || communicator->serial != serial) return result;
  if (communicator->stage == Communicator::Stage::undecided) {
    note_host_call(*communicator, monotonic_ns() - begin_ns);
    const bool succeeded = error == 0 && !may_have_failed;
    // What succeeded has words that are right.
    const std::uint64_t bytes = succeeded && weighs_calls(*communicator) ? posted_bytes(symbol, words) : 0;
    after_host_call(*communicator, algorithm_of(call), bytes, succeeded, synchronises(call));
  } else {
    host_call_ended(*communicator, error, reason == Reason::buffers_overlap);
    if (observed) note_leaving(*communicator, call, entry, error != 0, *observed);
  }
  return result;
}

// Where the addresses of buffers stand.
std::array<std::uint8_t, 2> buffers_of(const CollectiveCall& call) {
  switch (call.kind) {
    case CollectiveKind::barrier: return {at::Barrier::comm, at::Barrier::comm};
    case CollectiveKind::bcast: return {at::Bcast::buffer, at::Bcast::buffer};
    case CollectiveKind::exchange: return {call.exchange->shape.send.buffer, call.exchange->shape.receive.buffer};
    default: return {at::Allreduce::sendbuf, at::Allreduce::recvbuf};  // the first two of all reductions
  }
}

// Ranks of other nodes are in the host's collective with some of this one, and cannot be told that something failed
// here. They would wait for ever.
void end_if_others_wait(const Communicator& communicator, Symbol symbol, const Attempt& attempt) {
  if (!communicator.nodes) [[likely]]
    return;
  using collective::Result;
  const Result broken = communicator.group->group().broken();
  const Result result = attempt.result() != Result::ok ? attempt.result() : broken;
  // Of a mismatch they are told; what was too long for this rank alone is nothing to them.
  if (result == Result::ok || result == Result::mismatch || result == Result::truncated) return;
  log(LogLevel::error, fmt::format("{} on rank {} of {}: {}; ranks on other nodes cannot be told, so the job ends",
                                   entry_names()[static_cast<std::size_t>(symbol_entry(symbol))], communicator.rank,
                                   communicator.ranks, explanation(result)));
  host<Symbol::MPI_Abort>(abi::comm_world(), abi::err_intern);
}

// The end of a call that was ours: its error.
int end_taken_call(Communicator& communicator, Symbol symbol, const Attempt& attempt, const CollectiveCall* call,
                   ObservedCall* observed) {
  ++communicator.calls;
  note_meeting();
  const bool has_failed = attempt.error() != 0 || attempt.result() != collective::Result::ok;
  note_end(communicator, has_failed ? abi::err_intern : 0, true);
  if (observed)
    note_leaving(communicator, *call, static_cast<std::uint16_t>(symbol_entry(symbol)), has_failed, *observed);
  end_if_others_wait(communicator, symbol, attempt);
  // The last look at the communicator: its error handler may free it.
  if (attempt.result() != collective::Result::ok) return raise(communicator, symbol, attempt.result());
  if (attempt.is_untold()) host<Symbol::MPI_Comm_call_errhandler>(communicator.handle, as_word(attempt.error()));
  return attempt.error();
}

// `observed`: where a report is asked for, else null.
Done do_call(Symbol symbol, void* next, std::span<Word> words, const CollectiveCall& call, ObservedCall* observed) {
  const auto entry = static_cast<std::uint16_t>(symbol_entry(symbol));
  if (ForwardedCollective::is_nested(entry, call.from_fortran, call.comm))
    return {call_next(next, words), forwarded(Reason::not_accelerated)};
  Reason reason = Reason::not_agreed;
  bool by_words = false, counted = true, is_empty = false;
  Communicator* communicator = find_communicator(call.comm);
  if (communicator && communicator->stage == Communicator::Stage::undecided)
    before_host_call(*communicator, synchronises(call) || (call.exchange && communicator->nodes_accord &&
                                                           waits_for_all(*call.exchange, communicator->rank)));
  if (is_disabled_entry(symbol)) {
    reason = Reason::disabled;
  } else if (communicator && communicator->stage == Communicator::Stage::active) [[likely]] {
    if (observed) came_to_call(*communicator, observed->start_ticks());
    Repeat repeat;
    const Attempt attempt =
        attempt_collective(*communicator, call, communicator->exchange, observed ? nullptr : &repeat);
    forget_answer(*communicator);
    if (attempt.reason() == Reason::none) {
      if (repeat.run && attempt.is_good())
        remember_call(symbol, words, call.kind, buffers_of(call), *communicator, true, &repeat);
      const Outcome outcome = taken(algorithm_of(call, *communicator));
      return {return_error(call, words, end_taken_call(*communicator, symbol, attempt, &call, observed)), outcome};
    }
    reason = attempt.reason();
    by_words = attempt.by_words();
    is_empty = attempt.is_uncounted();
    counted = !is_empty;
  } else if (communicator) {
    reason = communicator->reason;
    by_words = communicator->stage == Communicator::Stage::host;
    counted = false;
  }

  Outcome outcome = forwarded(reason);
  if (is_reduction(call.kind) && !is_empty && op_substitution_active.load(std::memory_order_relaxed)) {
    const Outcome substituted = substitute_op(symbol, words);
    by_words = by_words && substituted.reason == Reason::host_is_faster;  // for its bytes
    if (substituted.algorithm != record::no_algorithm) outcome = substituted;
  }
  if (by_words) remember_call(symbol, words, call.kind, buffers_of(call), *communicator, counted, nullptr);
  return {leave_to_host(symbol, next, words, call, communicator, reason, observed), outcome};
}

}  // namespace

int end_taken_call(Communicator& communicator, Symbol symbol, const Attempt& attempt) {
  return end_taken_call(communicator, symbol, attempt, nullptr, nullptr);
}

void prepare_shared_collectives(const SettingValues& settings, int world_rank, int world_ranks) {
  if (shared_collectives_active.load(std::memory_order_relaxed) || settings.collectives == When::never) return;
  if (host_survives_failures()) {
    why_not_shared.store(Reason::fault_tolerance, std::memory_order_relaxed);
    log(LogLevel::info, "no collectives in shared memory: the host was told to survive ranks that fail");
    return;
  }
  std::string complaint;
  const collective::Selection selection = plan::select_collectives(
      {settings.order == ReductionOrder::rank, settings.tree, settings.algorithm, settings.single_copy != When::never},
      complaint, tuning().collectives);
  if (!complaint.empty() && world_rank == 0) log(LogLevel::warning, complaint);
  configure_node_groups(selection, waiting_of(settings.wait));
  keep_rank_order(settings.order == ReductionOrder::rank);
  prepare_learning(file_name_of(settings.learn), world_rank, world_ranks);
  const bool always_ours = settings.collectives == When::always;
  if (learns() && always_ours && world_rank == 0)
    log(LogLevel::warning, "MILLRACE_LEARN: with MILLRACE_COLLECTIVES=always there is nothing to learn");
  use_host_facts(host_facts(), tuning().collectives_of(host_facts()), plan::LearnedSides(learned_rows(world_ranks)),
                 always_ours);
  measure_calls(always_ours ? When::never : learns() ? When::always : settings.measure);
  if (!prepare_host_progress()) return;
  find_hidden_errors();
  if (!prepare_agreement()) {
    if (world_ranks > 1) why_not_shared.store(Reason::no_shared_memory, std::memory_order_relaxed);
    return;
  }
  prepare_background_calls();
  NodesGroup::prepare_with(prepare_wire_ops);
  shared_collectives_active.store(true, std::memory_order_relaxed);
}

void forget_shared_collectives() noexcept {
  keep_what_was_learned();
  if (!shared_collectives_active.exchange(false, std::memory_order_relaxed)) return;
  forget_background_calls();
  forget_agreement();
  forget_wire_ops();
  forget_host_progress();
}

Word shared_collective(Symbol symbol, void* next, std::span<Word> words, const CollectiveCall& call) {
  if (__builtin_expect((current_mode() & (recording | checking)) == 0, 1))
    return do_call(symbol, next, words, call, nullptr).result;
  if (marked_for_check(symbol)) return 0;
  ObservedCall observed(symbol);
  forget_class();
  // Calls that the host makes inside one of the program's belong to it.
  const Done done = do_call(symbol, next, words, call, &observed);
  observed.stop();
  if (observed.outermost()) {
    const bool succeeded = error_of(call, words, done.result) == 0;
    if (done.outcome.reason == Reason::none) count_saving(static_cast<std::uint16_t>(symbol_entry(symbol)));
    if (succeeded)
      observed.add(posted_bytes(symbol, words), done.outcome.algorithm, done.outcome.reason, words);
    else
      observed.add(0, done.outcome.algorithm, done.outcome.reason);
  }
  return done.result;
}

void constructed(Symbol symbol, Word parent, bool succeeded, Word made, int tag) noexcept {
  Communicator* const known = find_communicator(parent);
  if (!known || !known->has_identity) return;
  const auto kind = static_cast<std::uint64_t>(symbol_entry(symbol));
  const bool of_all_ranks = symbol_entry(symbol) != symbol_entry(Symbol::MPI_Comm_create_group);
  if (!succeeded) {
    // For the others it may have been one.
    known->lost_children = true;
    return;
  }
  const bool is_member = made != abi::comm_null();
  node::Identity identity;
  if (of_all_ranks)
    identity = next_child(*known, kind);
  else if (is_member)
    identity = next_of_group(*known, made, kind, tag);
  if (is_member) register_communicator(made, known->lost_children ? nullptr : &identity);
}

Word shared_exchange(Symbol symbol, void* next, std::span<Word> words) {
  const ExchangeCall exchange(symbol, *exchange_shape(symbol_entry(symbol)), words);
  return shared_collective(symbol, next, words,
                           {.kind = CollectiveKind::exchange,
                            .from_fortran = exchange.from_fortran(),
                            .comm = exchange.comm(),
                            .exchange = &exchange});
}

const char* shared_algorithm_name(std::uint16_t algorithm) {
  static constexpr std::array names{"shared_barrier",
                                    "shared_bcast",
                                    "shared_reduce",
                                    "shared_allreduce",
                                    "shared_reduce_scatter",
                                    "shared_scan",
                                    "shared_exscan",
                                    "shared_gather",
                                    "shared_scatter",
                                    "shared_allgather",
                                    "shared_alltoall",
                                    "shared_neighbor_allgather",
                                    "shared_neighbor_alltoall",
                                    "nodes_barrier",
                                    "nodes_bcast",
                                    "nodes_reduce",
                                    "nodes_allreduce",
                                    "nodes_reduce_scatter",
                                    "nodes_scan",
                                    "nodes_exscan",
                                    "nodes_gather",
                                    "nodes_scatter",
                                    "nodes_allgather",
                                    "nodes_alltoall"};
  static_assert(std::string_view(names[shared_algorithms]) == "nodes_barrier");
  const std::size_t index = algorithm - first_shared_algorithm;
  return index < names.size() ? names[index] : nullptr;
}

}  // namespace millrace::shim
