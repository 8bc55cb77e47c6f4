#include "collective/group.h"

#include <sys/prctl.h>

#include <algorithm>
#include <cstring>
#include <new>
#include <span>

#include "base/hash.h"
#include "collective/across/across.h"
#include "collective/mail.h"
#include "collective/single_copy.h"

namespace millrace::collective {
namespace {

constexpr std::uint32_t scratch_alignment = 64;
static_assert(most_inline_bytes == inline_bytes);

// Not zero, and another for another shape.
std::uint32_t fingerprint(const GroupShape& shape) {
  std::uint32_t value = 0x4d696c6c;
  for (const std::uint32_t part : {shape.ranks, shape.calls_ahead, shape.cell_bytes, shape.slots, shape.slot_bytes,
                                   shape.letters, shape.unit_bytes})
    value = (value ^ part) * 0x01000193u;
  return value | 1;
}

}  // namespace

const char* result_name(Result result) {
  switch (result) {
    case Result::ok: return "ok";
    case Result::not_supported: return "not supported";
    case Result::peer_died: return "a peer died";
    case Result::mismatch: return "ranks disagree about the call";
    case Result::rank_failed: return "a rank could not do its part";
    case Result::truncated: return "more came than expected";
  }
  return "?";
}

Group::Group() = default;
Group::~Group() { leave(); }

Status Group::join(void* base, const GroupShape& shape, std::uint32_t rank, const Options& options) {
  if (!base || !valid(shape) || rank >= shape.ranks) return Status::bad_argument;
  inputs_.reset(new (std::nothrow) const void*[shape.ranks]);
  sizes_.reset(new (std::nothrow) std::size_t[shape.ranks]);
  scratch_bytes_ = std::max(shape.slot_bytes, shape.cell_bytes);
  scratch_memory_.reset(new (std::nothrow) char[scratch_bytes_ + scratch_alignment]);
  nodes_.reset(new (std::nothrow) TreeNode[std::size_t{way_count} * shape.ranks]);
  children_.reset(new (std::nothrow) std::uint32_t[std::size_t{way_count + 4} * shape.ranks]);
  mail_.reset(new (std::nothrow) Mail);
  processors_.reset(new (std::nothrow) shared_memory::Processors[shape.ranks]);
  places_.reset(new (std::nothrow) Place[shape.ranks]);
  if (!inputs_ || !sizes_ || !scratch_memory_ || !nodes_ || !children_ || !processors_ || !places_ || !mail_ ||
      !mail_->open(shape))
    return Status::no_memory;
  const auto address = reinterpret_cast<std::uintptr_t>(scratch_memory_.get());
  scratch_ = scratch_memory_.get() + (scratch_alignment - address % scratch_alignment);

  shape_ = shape;
  layout_ = block_layout(shape);
  rank_ = rank;
  head_ = static_cast<Head*>(base);
  blocks_ = static_cast<char*>(base) + page_bytes;
  self_ = &member(rank);
  host_ = options.host;
  seating_ = options.seating;
  lets_write_ = options.lets_write;
  selection_ = options.selection ? options.selection : &standard_selection();
  identity_ = shared_memory::own_identity();
  calls_ = chunks_ = history_ = 0;
  meetings = exchanges = pair_chunks = pair_rows_again = 0;
  copy_choice = {};
  calls_free_ = shape.calls_ahead;
  chunks_free_ = shape.slots;
  broken_ = Result::ok;

  self_->identity = identity_;
  self_->processors = shared_memory::own_processors();
  self_->place = shared_memory::own_place();
  self_->waiting = options.waiting;
  self_->crowded_node = options.crowded_node ? 1 : 0;
  self_->bell_seat = seating_.attention ? seating_.seat + 1 : 0;
  known_word_ = spread(identity_.start_time + 1) ^ static_cast<std::uint64_t>(identity_.pid) << 32 ^ rank;
  self_->known_word = known_word_;
  self_->known_address = static_cast<std::uint64_t>(reinterpret_cast<std::uintptr_t>(&known_word_));
  self_->present.store(fingerprint(shape), std::memory_order_seq_cst);  // partners: acquire in start(), may_read()
  self_->reads.store(selection_->single_copy && may_read() ? 2 : 1, std::memory_order_release);  // partner: start()
  return Status::ok;
}

// Whether this rank may read a word of every rank that has joined so far. Of any two that join, one at least sees the
// other; what one may not, nobody does.
bool Group::may_read() const {
  if (prctl(PR_GET_DUMPABLE) != 1) return false;  // others may not look at this process
  for (std::uint32_t rank = 0; rank < ranks(); ++rank) {
    const Member& other = member(rank);
    if (rank == rank_ || other.present.load(std::memory_order_seq_cst) == 0) continue;  // partner: join()
    if (other.identity.pid_namespace != identity_.pid_namespace || !is_there(rank)) return false;
  }
  return true;
}

Result Group::start() {
  reads_memory_ = true;
  for (std::uint32_t rank = 0; rank < ranks(); ++rank) {
    const Member& each = member(rank);
    std::uint32_t reads = 0;
    for (std::uint64_t tries = 0; (reads = each.reads.load(std::memory_order_acquire)) == 0;
         ++tries)  // partner: join()
      // Who joined meanwhile may have failed in the first call with others: that is told by this rank's first call.
      if (const Result result = wait_for_join(tries);
          result != Result::ok && each.reads.load(std::memory_order_acquire) == 0)
        return result;
    if (each.present.load(std::memory_order_acquire) != fingerprint(shape_)) return fail(Result::mismatch);
    reads_memory_ = reads_memory_ && reads == 2;
  }
  decide_waiting();
  plant_trees();
  return Result::ok;
}

// From what all ranks wrote about themselves, so all decide alike.
void Group::decide_waiting() {
  Waiting wanted = Waiting::automatic;
  bool crowded = false;
  for (std::uint32_t rank = 0; rank < ranks(); ++rank) {
    const Member& each = member(rank);
    processors_[rank] = each.processors;
    crowded = crowded || each.crowded_node != 0;
    wanted = std::max(wanted, std::min(shared_memory::read_once(each.waiting), Waiting::sleep));
  }
  crowded_ = crowded || !shared_memory::one_each(std::span(processors_.get(), ranks()));
  waiting_ = wanted != Waiting::automatic ? wanted : crowded_ ? Waiting::sleep : Waiting::spin;
  polls_ = polls_of(waiting_);
  may_sleep_ = waiting_ == Waiting::sleep;
}

// Equal on all ranks, for they read the same places.
void Group::plant_trees() {
  const std::uint32_t count = ranks();
  for (std::uint32_t rank = 0; rank < count; ++rank) places_[rank] = member(rank).place;
  const std::span<std::uint32_t> scratch(children_.get() + std::size_t{way_count} * count, std::size_t{4} * count);
  for (const Way way : {Way::from_root, Way::to_root})
    build_tree({places_.get(), count}, way == Way::from_root ? selection_->tree : selection_->gather_tree,
               {nodes_of(way), count}, {children_of(way), count}, scratch);
}

void Group::observe(Observer& observer) {
  observer_ = &observer;
  polls_ = 0;
  may_sleep_ = true;
  short_copy_bytes_ = 0;
}

void Group::copy_long(void* to, const void* from, std::size_t bytes) const {
  if (!observer_ || observer_->copies(to, from, bytes)) [[likely]]
    kernel::copy_row(to, from, bytes);
}

void Group::leave() {
  if (!self_) return;
  self_->left.store(1, std::memory_order_release);  // partner: acquire in look_around()
  self_ = nullptr;
  head_ = nullptr;
  blocks_ = nullptr;
}

void Group::span(Across& across, const Selection& selection) {
  across_ = &across;
  selection_ = &selection;
  shape_.ranks = across.map().ranks();
  rank_ = across.rank();
}

Result Group::fail(Result result) {
  if (across_) {
    across_->fail(result);
    return broken_ = result;
  }
  std::uint32_t verdict = 0;
  // Partner: every rank that waits loads it. Only the value matters.
  if (!head_->verdict.compare_exchange_strong(verdict, static_cast<std::uint32_t>(result)))
    result = verdict_result(verdict);
  broken_ = result;
  return result;
}

void Group::write_note(std::uint64_t number, const void* data, std::size_t bytes) {
  Note& own = self_->notes[number % 2];
  std::memcpy(own.data, data, bytes);
  publish(own.number, number);
}

Result Group::read_note(std::uint32_t rank, std::uint64_t number, void* data, std::size_t bytes) {
  if (broken_ != Result::ok) return broken_;
  const Note& theirs = member(rank).notes[number % 2];
  const Result result = wait(theirs.number, number);
  if (result == Result::ok) std::memcpy(data, theirs.data, bytes);
  return result;
}

Result Group::read_from(std::uint32_t rank, std::uint64_t address, void* to, std::size_t bytes) {
  if (observer_) [[unlikely]] {
    copy_long(to, reinterpret_cast<const void*>(static_cast<std::uintptr_t>(address)), bytes);
    return Result::ok;
  }
  const Result result = read_memory(member(rank).identity.pid, address, to, bytes);
  if (result == Result::not_supported) return result;
  if (result != Result::ok) return fail(result);
  // The verdict as it was after the data were read: a load alone might be done before. Partner: fail().
  std::uint32_t verdict = 0;
  if (head_->verdict.compare_exchange_strong(verdict, 0, std::memory_order_acq_rel)) return Result::ok;
  return broken_ = verdict_result(verdict);
}

bool Group::is_there(std::uint32_t rank) const {
  const Member& other = member(rank);
  std::uint64_t word = 0;
  return read_memory(other.identity.pid, other.known_address, &word, sizeof word) == Result::ok &&
         word == other.known_word;
}

bool Group::maybe_alive(std::uint32_t rank) const {
  return shared_memory::maybe_alive(member(rank).identity, identity_);
}

bool Group::write_to(std::uint32_t rank, std::uint64_t address, const void* from, std::size_t bytes) const {
  return write_memory(member(rank).identity.pid, address, from, bytes) == Result::ok;
}

// Stale letters are rare, so all that this rank called of late is searched.
bool Group::called_before(const Call& call, std::uint64_t label) const {
  for (const std::atomic<std::uint64_t>& announced : self_->announced) {
    const std::uint64_t earlier = announced.load(std::memory_order_relaxed);  // own
    if (earlier != 0 && earlier >> 32 < call.number && static_cast<std::uint32_t>(earlier) == hash(label)) return true;
  }
  return false;
}

}  // namespace millrace::collective
