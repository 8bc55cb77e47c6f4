#include "shim/shared/measured_calls.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <utility>
#include <vector>

#include "abi.h"
#include "base/clock.h"
#include "base/log.h"
#include "collective/across/across.h"
#include "collective/data.h"
#include "collective/memory.h"
#include "shim/bind/forward.h"
#include "shim/bind/mode.h"
#include "shim/node/node_group.h"
#include "shim/shared/learning.h"
#include "shim/shared/savings.h"

namespace millrace::shim {
namespace {

using collective::Result;
using plan::Evidence;
using plan::EvidenceRecord;
using plan::Side;
using record::Reason;

static_assert(sizeof(EvidenceRecord) <= collective::most_note_bytes);
static_assert(std::is_trivially_copyable_v<EvidenceRecord>);

std::atomic<When> when_to_try{When::never};

// Of this process. Threads may lose one of two calls that come at a time: it is a budget.
struct Job {
  std::atomic<std::uint64_t> begin_ns{0}, calls{0}, tries{0}, tried_ns{0};
};
constinit Job job;

void add(std::atomic<std::uint64_t>& sum, std::uint64_t value) {
  sum.store(sum.load(std::memory_order_relaxed) + value, std::memory_order_relaxed);
}

class MeasuredCalls : public KeptWithCommunicator {
 public:
  MeasuredCalls(bool is_eager, bool over_nodes) : evidence(is_eager, over_nodes) {}

  Evidence evidence;
  EvidenceRecord own;
  std::vector<EvidenceRecord> records;
  std::vector<collective::Data> rows;  // the records, where ranks of other nodes send theirs
  std::uint64_t reports = 0;
  bool is_counted = false;       // the call under way
  std::uint64_t entry_ns = 0;    // 0: it is not timed
  Reason answer = Reason::none;  // of keep_answer(); none: there is none
  bool has_failed = false;       // some call here
};

bool synchronises(const plan::EitherCall& call) {
  using collective::Kind;
  const bool is_even = call.bytes > 0 && (call.flavor & plan::uneven_blocks) == 0;
  switch (call.kind) {
    case Kind::barrier:
    case Kind::allreduce: return true;
    case Kind::allgather:
    case Kind::alltoall:
    case Kind::reduce_scatter: return is_even;
    default: return false;
  }
}

MeasuredCalls* calls_of(const Communicator& communicator) {
  return static_cast<MeasuredCalls*>(communicator.measured.get());
}

void say(const Communicator& communicator, const Evidence::Change& change) {
  const std::string size = change.least_bytes < 0 ? "" : fmt::format(" of {} bytes and some more", change.least_bytes);
  log(LogLevel::info, fmt::format("{}{} among {} ranks: {} {:.2f} of the time, so {} them from now on",
                                  collective::kind_name(change.kind), size, communicator.ranks,
                                  change.choice == Side::host ? "the host takes" : "ours take", 1 / change.ratio,
                                  change.choice == Side::host ? "it does" : "we do"));
}

// The median; 0 if there were none.
std::uint64_t usual_host_ns(const Communicator& communicator) {
  std::array<std::uint32_t, std::tuple_size_v<decltype(communicator.host_ns)>> sorted = communicator.host_ns;
  const auto end =
      sorted.begin() + static_cast<std::ptrdiff_t>(std::min<std::size_t>(communicator.host_calls, sorted.size()));
  std::sort(sorted.begin(), end);
  return end == sorted.begin() ? 0 : sorted[static_cast<std::size_t>(end - sorted.begin()) / 2];
}

void report(const Communicator& communicator, MeasuredCalls& calls) {
  EvidenceRecord& record = calls.own;
  calls.evidence.report(record);
  record.calls = job.calls.load(std::memory_order_relaxed);
  record.tries = job.tries.load(std::memory_order_relaxed);
  record.tried_ns = job.tried_ns.load(std::memory_order_relaxed);
  record.elapsed_ns = monotonic_ns() - job.begin_ns.load(std::memory_order_relaxed);
  record.host_ns = usual_host_ns(communicator);
  record.has_failed = calls.has_failed ? 1 : 0;
  collective::Group& group = communicator.group->group();
  if (group.across())
    record.node = group.across()->map().node_of(group.rank());  // decide() sends it
  else
    group.write_note(++calls.reports, &record, sizeof record);
}

// What all have reported. `begin_ns`: when all had; to wait for that costs nothing that this call would not have
// waited.
Result read_reports(collective::Group& group, MeasuredCalls& calls, std::uint64_t& begin_ns) {
  calls.records.resize(group.ranks());
  if (collective::Across* const across = group.across()) {
    calls.rows.resize(group.ranks());
    for (std::uint32_t rank = 0; rank < group.ranks(); ++rank)
      calls.rows[rank] = {sizeof(EvidenceRecord), reinterpret_cast<char*>(&calls.records[rank]), nullptr, nullptr};
    const collective::Data own{sizeof(EvidenceRecord), reinterpret_cast<char*>(&calls.own), nullptr, nullptr};
    return across->exchange_blocks(collective::Kind::allgather, sizeof(EvidenceRecord), {&own, 1}, calls.rows, 0);
  }
  for (const std::size_t bytes : {std::size_t{0}, sizeof(EvidenceRecord)}) {
    begin_ns = monotonic_ns();
    for (std::uint32_t rank = 0; rank < group.ranks(); ++rank) {
      const Result result = group.read_note(rank, calls.reports, &calls.records[rank], bytes);
      if (result != Result::ok) return result;
    }
  }
  return Result::ok;
}

Result decide(const Communicator& communicator, MeasuredCalls& calls) {
  collective::Group& group = communicator.group->group();
  std::uint64_t begin_ns = monotonic_ns();
  if (const Result result = read_reports(group, calls, begin_ns); result != Result::ok) return result;
  const Evidence::Outcome outcome = calls.evidence.decide(calls.records);
  add(job.tries, outcome.tries);
  add(job.tried_ns, outcome.tried_ns + (monotonic_ns() - begin_ns));
  if (communicator.rank == 0)
    for (const Evidence::Change& change : outcome.changes) say(communicator, change);
  // A learned table does not know of nodes.
  if (communicator.rank == 0 && learns() && !group.across()) note_comparisons(communicator, outcome.trials);
  if (current_mode() & recording) note_costs(communicator, outcome);
  return Result::ok;
}

}  // namespace

void measure_calls(When when) {
  when_to_try.store(when, std::memory_order_relaxed);
  job.begin_ns.store(monotonic_ns(), std::memory_order_relaxed);
  job.calls.store(0, std::memory_order_relaxed);
  job.tries.store(0, std::memory_order_relaxed);
  job.tried_ns.store(0, std::memory_order_relaxed);
}

void note_host_call(Communicator& communicator, std::uint64_t time_ns) noexcept {
  constexpr std::uint64_t most_ns = ~std::uint32_t{0};
  communicator.host_ns[communicator.host_calls++ % communicator.host_ns.size()] =
      static_cast<std::uint32_t>(std::min(time_ns, most_ns));
}

Whose whose_call(Communicator& communicator, const Asked& asked) noexcept try {
  const auto& [call, hosts, either] = asked;
  const Reason by_table = hosts ? Reason::host_is_faster : Reason::none;
  const When when = when_to_try.load(std::memory_order_relaxed);
  if (when == When::never) return {Result::ok, by_table};
  if (!communicator.measured)
    communicator.measured =
        std::make_unique<MeasuredCalls>(when == When::always, communicator.group->group().across() != nullptr);
  MeasuredCalls& calls = *calls_of(communicator);
  if (calls.answer != Reason::none) [[unlikely]] {
    if (calls.entry_ns != 0) calls.entry_ns = monotonic_ns();
    return {Result::ok, std::exchange(calls.answer, Reason::none)};
  }
  calls.is_counted = true;
  calls.entry_ns = 0;
  add(job.calls, 1);
  const Evidence::Due due = calls.evidence.begin(synchronises(call));
  if (due.report) report(communicator, calls);
  if (due.decision)
    if (const Result result = decide(communicator, calls); result != Result::ok) return {result, Reason::none};
  if (!either) return {Result::ok, by_table};
  const Side standard = hosts ? Side::host : Side::ours;
  const Side side = calls.evidence.choose(call, standard);
  const bool is_timed = calls.evidence.measures();
  if (is_timed) calls.entry_ns = monotonic_ns();
  if (side == Side::ours) {
    if (current_mode() & recording) [[unlikely]]
      note_class(communicator, call);
    return {};
  }
  if (standard == Side::host) return {Result::ok, by_table};
  return {Result::ok, is_timed && calls.evidence.tries() ? Reason::tried : Reason::host_was_faster};
} catch (...) {  // no memory: the others count on this rank
  return {communicator.group->group().fail(Result::rank_failed), Reason::none};
}

void keep_answer(Communicator& communicator, Reason reason) noexcept {
  if (MeasuredCalls* const calls = calls_of(communicator)) calls->answer = reason;
}

void forget_answer(Communicator& communicator) noexcept { keep_answer(communicator, Reason::none); }

bool count_as_before(Communicator& communicator, std::uint64_t epoch, bool synchronises) noexcept {
  MeasuredCalls* const calls = calls_of(communicator);
  if (!calls) return when_to_try.load(std::memory_order_relaxed) == When::never;
  if (!calls->evidence.begin_as_before(epoch, synchronises)) return false;
  add(job.calls, 1);
  return true;
}

void note_counted(Communicator& communicator) noexcept {
  MeasuredCalls* const calls = calls_of(communicator);
  if (!calls) return;
  calls->is_counted = true;
  calls->entry_ns = 0;
}

std::uint64_t epoch_of_decisions(const Communicator& communicator) {
  const MeasuredCalls* const calls = calls_of(communicator);
  return calls ? calls->evidence.epoch() : 0;
}

namespace {

// Whether this rank has most likely done its part of a call of the host's that ended so: errors in arguments are found
// before anything is done, sizes that do not fit (some hosts have no other class for that) and faults afterwards.
bool took_part(int error) {
  if (error == 0) return true;
  int error_class = error;
  host<Symbol::MPI_Error_class>(as_word(error), as_word(&error_class));
  return error_class == abi::err_truncate || error_class == abi::err_other || error_class == abi::err_intern;
}

}  // namespace

void host_call_ended(Communicator& communicator, int error, bool takes_part) noexcept {
  communicator.calls += error == 0;
  note_end(communicator, error, takes_part || took_part(error));
}

// Who has made an error and has not done its part: the others are still in this call, and the next one of this rank is
// the one they are in. Whoever had an error says so in the next report, and then nothing is tried any more.
void note_end(Communicator& communicator, int error, bool took_part) noexcept {
  MeasuredCalls* const calls = calls_of(communicator);
  if (!calls || !calls->is_counted) return;
  calls->is_counted = false;
  if (error != 0) {
    calls->has_failed = true;
    if (!took_part) calls->evidence.take_back();
  } else if (calls->entry_ns != 0) {
    calls->evidence.timed(calls->entry_ns, monotonic_ns());
  }
}

// Hosts differ (docs/semantics.md): integers of 8 and 16 bits are added with saturation in one place and without in
// another (op/avx of Open MPI), the extrema of unsigned integers compared as signed ones (MPICH 4.0) and those of
// MPI_OFFSET as unsigned ones (Open MPI), those of NaN are either operand, and what is true is any number or one.
bool is_exact(kernel::Op op, kernel::Type type) {
  using kernel::Op;
  using kernel::Type;
  const bool is_signed = type == Type::i8 || type == Type::i16 || type == Type::i32 || type == Type::i64;
  const bool is_unsigned = type == Type::u8 || type == Type::u16 || type == Type::u32 || type == Type::u64;
  const bool is_wide = type == Type::i32 || type == Type::u32 || type == Type::i64 || type == Type::u64;
  switch (op) {
    case Op::sum:
    case Op::prod: return is_wide;
    case Op::max:
    case Op::min: return is_signed && type != Type::i64;
    case Op::band:
    case Op::bor:
    case Op::bxor: return is_signed || is_unsigned;
    default: return false;
  }
}

}  // namespace millrace::shim
