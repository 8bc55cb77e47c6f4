// The ranks of one communicator that share a segment, as one of their processes sees them.
//
//   // every rank, with equal `shape`; the segment comes from shared_memory/segment.h
//   create or open segment_bytes(shape);
//   const Part part = own_part(shape, rank);  reserve_pages(segment, part.offset_bytes, part.bytes)
//   Group group;
//   group.join(segment.base, shape, rank, options);     // writes who we are; then all agree through the host MPI
//   group.start();                                      // reads who the others are
//   barrier(group) ...                                  // collective/collective.h
//
// A Group is used by one thread at a time. Different groups are independent. After any result but ok and not_supported
// a group is broken: every further call returns that result at once, on every rank, and ranks that wait return it too.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>

#include "base/hash.h"
#include "base/status.h"
#include "collective/copy_choice.h"
#include "collective/group_shape.h"
#include "collective/memory.h"
#include "collective/observer.h"
#include "collective/result.h"
#include "collective/selection.h"
#include "collective/tree.h"
#include "kernel/copy/row.h"
#include "shared_memory/attention.h"
#include "shared_memory/futex.h"
#include "shared_memory/read_once.h"
#include "shared_memory/waiting.h"

namespace millrace::collective {

using shared_memory::Host;
using shared_memory::Waiting;

struct Options {
  Host host;
  Waiting waiting = Waiting::automatic;  // ranks may ask for different ones; all take the most patient
  bool crowded_node = false;             // ranks of the node that are not in this group share cores with it
  shared_memory::Seating seating;        // who rings this rank when it sleeps; the same memory on all ranks, or none
  // Whether others may write to this process' memory where a call of it waits for that (shared_row.h): tools that
  // follow every write do not see those.
  bool lets_write = true;
  const Selection* selection = nullptr;  // null: standard_selection(). Equal on all ranks; must outlive the group
};

class Across;  // across/across.h
class Mail;
class BackgroundQueue;  // background.h

// One collective call of a group.
struct Call {
  std::uint64_t number;
  std::uint64_t label;  // made of kind, root and bytes of this call and all before: equal on all ranks, or the program
                        // is wrong, and was perhaps some calls ago, where no rank could tell
};

class Group {
 public:
  Group();
  Group(const Group&) = delete;
  Group& operator=(const Group&) = delete;
  ~Group();

  // Writes who we are into the segment at `base`, which is zeroed memory, aligned to pages. bad_argument: a shape that
  // no segment can have; no_memory: for this process' own notes (then nobody may start). Waits for nobody.
  Status join(void* base, const GroupShape& shape, std::uint32_t rank, const Options& options);

  // Waits until every rank has joined (they have, where they agreed on it) and decides how to wait. peer_died,
  // mismatch (shapes differ) as for a collective.
  Result start();

  // Instead of join() and start(): a group without memory of its own, whose ranks are on several nodes. `across` must
  // outlive it.
  void span(Across& across, const Selection& selection);

  // After start(): this rank runs in the time of `observer`, which must outlive the group.
  void observe(Observer& observer);

  // Says that we end well: peers no longer mind when this process is gone. Then the segment may be unmapped.
  void leave();

  std::uint32_t rank() const { return rank_; }
  std::uint32_t ranks() const { return shape_.ranks; }
  // The rank `step` < ranks() before this one, going round: who looks at all others in this order does not turn to the
  // same one as everybody else.
  std::uint32_t before(std::uint32_t step) const { return rank_ >= step ? rank_ - step : rank_ + shape_.ranks - step; }
  const GroupShape& shape() const { return shape_; }
  Waiting waiting() const { return waiting_; }         // never automatic after start()
  bool crowded() const { return crowded_; }            // some rank of the group, or of the node, has no core of its own
  bool reads_memory() const { return reads_memory_; }  // single_copy.h: the same on all ranks
  const Selection& selection() const { return *selection_; }
  Result broken() const { return broken_; }
  bool in_background() const { return background_ != nullptr; }
  std::uint64_t calls() const { return calls_; }  // that this rank has begun

  // Of a group whose ranks are on several nodes: who does its collectives; else null.
  Across* across() const { return across_; }
  // The same at the beginning of a call.
  Across* enter_across() {
    if (!across_) [[likely]]
      return nullptr;
    ++calls_;
    return across_;
  }

  // ---- for the algorithms ----

  // Begins the next call. The result is ok, or what broke the group earlier.
  Result enter(Kind kind, std::uint64_t bytes, std::uint32_t root, Call& call) {
    return enter(what_of(kind, bytes, root), call);
  }
  // Of which labels are made.
  static std::uint64_t what_of(Kind kind, std::uint64_t bytes, std::uint32_t root) {
    return static_cast<std::uint64_t>(kind) | std::uint64_t{root} << 4 | bytes << 24;
  }
  Result enter(std::uint64_t what, Call& call) {
    if (broken_ != Result::ok) [[unlikely]]
      return broken_;
    if (background_) [[unlikely]]
      if (const Result result = await_turn(); result != Result::ok) return result;
    call.number = calls_++;
    call.label = history_ = spread(history_ ^ what);
    self_->announced[call.number % 128].store(call.number << 32 | hash(call.label), std::memory_order_relaxed);
    return Result::ok;
  }

  // Ends it: this rank reads nothing of it any more.
  void finish(const Call& call) { publish(self_->calls_done.value, call.number + 1); }
  // The first of several calls of one collective: what was before is finished, of which all_heard() tells nobody. With
  // few cells a later step of the collective waits for that.
  void begin_steps(const Call& call) { publish(self_->calls_done.value, call.number); }
  // Ends a call in which every rank heard from every other. All know then that all finished the calls before, and need
  // not be told so again: whoever waits in await_cells() waits for calls after this one.
  void all_heard(const Call& call) { calls_free_ = call.number + shape_.calls_ahead; }

  // Makes sure that nobody reads this rank's cell of call - calls_ahead any more. This rank puts bytes [first, bytes)
  // of a message there.
  Result cell_free(const Call& call, std::size_t bytes = 0, std::size_t first = 0) {
    if (call.number + asked_ahead < calls_free_) [[likely]] {
      // The lines of a later call are asked for early: stores wait for their lines one after the other, and nobody
      // reads there any more.
      const Call later{call.number + asked_ahead, call.label};
      shared_memory::prefetch_to_write(&cell(rank_, later));
      if (bytes > line_bytes - 16) {
        const char* line = data(rank_, later, bytes) + first;
        const char* const end = line + std::min(bytes - first, most_bytes_asked);
        for (line += line_bytes - 16; line < end; line += line_bytes) shared_memory::prefetch_to_write(line);
      }
      return Result::ok;
    }
    return call.number < calls_free_ ? Result::ok : await_cells(call.number);
  }
  static constexpr std::uint64_t asked_ahead = 4;  // calls
  static constexpr std::size_t most_bytes_asked = 2048;

  Cell& cell(std::uint32_t rank, const Call& call) const {
    return cells_of(rank)[call.number & (shape_.calls_ahead - 1)];
  }
  // Where a small message of `bytes` <= cell_bytes lies.
  char* data(std::uint32_t rank, const Call& call, std::size_t bytes) const {
    if (bytes <= selection_->inline_bytes) return cell(rank, call).data;
    return block(rank) + layout_.cell_data + (call.number & (shape_.calls_ahead - 1)) * shape_.cell_bytes;
  }
  // This rank's cell is full.
  void post(const Call& call) {
    Cell& own = cell(rank_, call);
    own.label = call.label;
    publish(own.sequence, call.number + 1);
  }
  // Waits until the cell of `rank` is full and checks that it was filled by the same call.
  Result receive(std::uint32_t rank, const Call& call) {
    Cell& theirs = cell(rank, call);
    if (const Result result = wait(theirs.sequence, call.number + 1); result != Result::ok) [[unlikely]]
      return result;
    return theirs.label == call.label ? Result::ok : fail(Result::mismatch);
  }

  // The same for cells that also say how many bytes their rank has.
  void post_sized(const Call& call, std::size_t bytes) {
    Cell& own = cell(rank_, call);
    own.label = call.label ^ bytes;
    publish(own.sequence, call.number + 1);
  }
  Result receive_sized(std::uint32_t rank, const Call& call, std::size_t& bytes) {
    if (const Result result = wait(cell(rank, call).sequence, call.number + 1); result != Result::ok) [[unlikely]]
      return result;
    bytes = shared_memory::read_once(cell(rank, call).label) ^ call.label;
    return bytes <= most_sized_bytes ? Result::ok : fail(Result::mismatch);
  }
  static constexpr std::size_t most_sized_bytes = (std::size_t{1} << 44) - 1;  // what is above tells labels apart

  // Reads memory of `rank` (single_copy.h), which lets it be read until this rank says that it has. not_supported: it
  // cannot be read this way, by nobody's fault; its owner must pass it on. Who reads in a broken group may read what
  // its owner has already overwritten, so it is no ok.
  Result read_from(std::uint32_t rank, std::uint64_t address, void* to, std::size_t bytes);

  // Writes to memory of `rank`, which waits for it (shared_row.h). False: it could not, and part may be written.
  bool write_to(std::uint32_t rank, std::uint64_t address, const void* from, std::size_t bytes) const;
  // Whether `rank` is there and is who has joined: its number may be another process' by now.
  bool is_there(std::uint32_t rank) const;
  bool maybe_alive(std::uint32_t rank) const;
  // Whether a row of so many bytes that this rank reads is written to by its owner, if that likes to: where each has a
  // core of its own.
  bool shares_rows(std::size_t bytes) const {
    return lets_write_ && (selection_->shared_rows_crowded || (!may_sleep_ && !crowded_)) && shape_.letters != 0 &&
           at_least(bytes, selection_->shared_row_bytes);
  }
  SharedRow& shared_row(std::uint32_t owner, std::uint32_t reader) const {
    return *reinterpret_cast<SharedRow*>(mailbox(reader, owner) + shape_.letters * sizeof(Letter) + sizeof(NotedFlag));
  }

  // Waits until all others have finished this call too, which this rank has.
  Result all_finished(const Call& call);

  // Numbers the next `count` chunks of large messages, the first of which it returns.
  std::uint64_t take_chunks(std::uint64_t count) {
    const std::uint64_t first = chunks_;
    chunks_ += count;
    return first;
  }
  char* slot(std::uint32_t rank, std::uint64_t chunk) const {
    return block(rank) + layout_.slots + (chunk & (shape_.slots - 1)) * layout_.slot_stride;
  }
  // Where in its slots this rank's row begins.
  std::size_t slot_phase(const void* row) const { return phases(shape_) && row ? line_phase(row) : 0; }
  // Makes sure that nobody reads or writes this rank's slot for chunk - slots any more.
  Result slot_free(std::uint64_t chunk) {
    if (chunk < chunks_free_) [[likely]]
      return Result::ok;
    return await_slots(chunk);
  }
  void chunks_free_below(std::uint64_t chunk) {
    if (chunk > chunks_free_) chunks_free_ = chunk;
  }
  // This rank's place in a tree of the selection, for any root; children and parent as ranks.
  const TreeNode& tree_node(Way way, std::uint32_t root) const { return nodes_of(way)[seat(rank_, root)]; }
  std::uint32_t tree_parent(const TreeNode& node, std::uint32_t root) const { return seat(node.parent, root); }
  std::uint32_t tree_child(Way way, const TreeNode& node, std::uint32_t index, std::uint32_t root) const {
    return seat(children_of(way)[node.first_child + index], root);
  }

  // Meetings of a group of two ranks (pair.h): each of the counters is the same on both.
  PairLine& pair_line() const { return head_->pair_line; }
  PairHead& pair_buffer(std::uint32_t side, std::uint32_t index) const {
    return *reinterpret_cast<PairHead*>(block(side) + layout_.pair_buffers + index * layout_.pair_stride);
  }
  std::uint64_t meetings = 0, exchanges = 0, pair_chunks = 0;
  std::uint64_t pair_rows_again = 0;  // this rank's, the call from which on it says again where its block lies
  // How this rank's large messages were copied, and what that has cost (call_copies.h).
  CopyChoice copy_choice;
  bool past_caches = false;  // in the call under way: leave() goes there
  // In the call under way: who waits keeps its core for so long, even where others want it. 0: not at all.
  std::uint64_t keeps_core_ns = 0;
  bool may_keep_core = true;  // not where those may be ranks of the same job, which are waited for in the end
  // Puts bytes into shared memory, for others.
  void leave(void* to, const void* from, std::size_t bytes) const {
    if (past_caches)
      kernel::copy_row_streaming(to, from, bytes);
    else
      copy(to, from, bytes);
  }
  // The same for what is read there.
  void copy(void* to, const void* from, std::size_t bytes) const {
    if (bytes < short_copy_bytes_)
      std::memcpy(to, from, bytes);
    else
      copy_long(to, from, bytes);
  }
  // What this rank has spent in a call, for others to see; and what another has, where CostNote::is_of() that call.
  void note_cost(const Call& call, std::uint64_t ticks) {
    self_->costs[call.number % CostNote::places].store(CostNote::make(call.number, ticks), std::memory_order_relaxed);
  }
  std::uint64_t cost_note(std::uint32_t rank, std::uint64_t call_number) const {
    return member(rank).costs[call_number % CostNote::places].load(std::memory_order_relaxed);
  }

  // Whether `label` is one of the last 128 calls of this rank before `call`.
  bool called_before(const Call& call, std::uint64_t label) const;

  Member& member(std::uint32_t rank) const { return *reinterpret_cast<Member*>(block(rank)); }
  Member& self() const { return *self_; }

  // Stores to a flag whose only writer is this rank. Everything written before is seen by whoever sees the value.
  void publish(std::atomic<std::uint64_t>& flag, std::uint64_t value) {
    if (!may_sleep_) [[likely]] {
      flag.store(value, std::memory_order_release);  // partner: acquire in wait() and wait_long()
      return;
    }
    publish_and_wake(flag, value);
  }

  // Waits until `flag` is at least `least`.
  Result wait(const std::atomic<std::uint64_t>& flag, std::uint64_t least) {
    for (std::uint32_t polls = polls_; polls != 0; --polls)
      if (flag.load(std::memory_order_acquire) >= least) [[likely]]  // partner: release in publish()
        return Result::ok;
    return wait_long(flag, least);
  }

  // The same for a flag in a line that the caller writes too: to look at it too eagerly, or once more afterwards, would
  // take the line away from the writer. Hence the value.
  Result wait_politely(const std::atomic<std::uint64_t>& flag, std::uint64_t least, std::uint64_t& value) {
    for (std::uint32_t polls = polls_ / 8; polls != 0; --polls) {
      shared_memory::cpu_pause();
      value = flag.load(std::memory_order_acquire);  // partner: release in publish()
      if (value >= least) [[likely]]
        return Result::ok;
    }
    const Result result = wait_long(flag, least);
    value = flag.load(std::memory_order_acquire);
    return result;
  }

  // Exchanges (mail.h): letters from one rank to another, how many of them were taken, and what they point at.
  Letter& letter(std::uint32_t from, std::uint32_t to, std::uint64_t number) const {
    return reinterpret_cast<Letter*>(mailbox(from, to))[number & (shape_.letters - 1)];
  }
  std::atomic<std::uint64_t>& letters_taken(std::uint32_t from, std::uint32_t by) const {
    return taken_flag(from, by).value;
  }
  // Bit `number % letters`: letter `number` pointed at a row that `by` could not read. Stored before the count of those
  // taken, or a letter that says it; valid until the next letter in that place is taken.
  std::atomic<std::uint64_t>& rows_refused(std::uint32_t from, std::uint32_t by) const {
    return taken_flag(from, by).note;
  }
  char* outbox(std::uint32_t rank) const { return block(rank) + layout_.outbox; }
  Mail& mail() const { return *mail_; }

  // Stores to a flag that only `reader` waits for, in idle(), among several.
  void publish_to(std::uint32_t reader, std::atomic<std::uint64_t>& flag, std::uint64_t value) {
    if (!may_sleep_) [[likely]] {
      flag.store(value, std::memory_order_release);  // partners: acquire in mail.cpp
      return;
    }
    publish_and_ring(reader, flag, value);
  }

  // For who waits for several flags: what it has waited so far.
  struct Patience {
    std::uint64_t begin_ns = 0, look_ns = 0, round = 0;
    // Of a rank that may sleep: when the host last seemed to need it, slices slept since, until when it stays awake.
    std::uint64_t needed_ns = 0, slices = 0, attentive_until_ns = 0, attentive_until_round = 0;
    std::uint32_t drives = 1;      // of the host in a round
    bool rounds_are_long = false;  // of a rank that spins
  };
  // What a wait is for: a flag, or something that `ready` finds (with sequentially consistent loads).
  struct Awaited {
    const std::atomic<std::uint64_t>* flag = nullptr;
    std::uint64_t least = 0;
    bool (*ready)(void* context) = nullptr;
    void* context = nullptr;
  };
  // One round of waiting, when polling did not help: gives way or sleeps, drives the host, looks for verdicts and for
  // the dead. To be called with polls in between until it is not ok or what is waited for has come. Of a group whose
  // calls run in the background: leaves the call until it is resumed.
  Result idle(Patience& patience, const Awaited& awaited) {
    if (background_) [[unlikely]]
      return suspend(patience, awaited);
    return wait_a_round(patience, awaited);
  }
  Result wait_a_round(Patience& patience, const Awaited& awaited);
  // What is left of it for who must not wait.
  Result look(Patience& patience);
  // Calls `step` until it is done, which somebody brings about for whom `awaited` changes.
  enum class Step { done, moved, nothing };
  template <class Advance>
  Result advance(const Awaited& awaited, Advance step) {
    Patience patience;
    for (std::uint32_t polls = pauses();;) {
      const Step came = step();
      if (came == Step::done) return Result::ok;
      if (came == Step::moved) {
        patience = {};
        polls = pauses();
      } else if (polls != 0) {
        --polls;
        shared_memory::cpu_pause();
      } else {
        if (const Result result = idle(patience, awaited); result != Result::ok) return result;
        polls = polls_between();
      }
    }
  }
  // Before the first round, of a wait that pauses with each poll: a pause takes up to 140 cycles.
  std::uint32_t pauses() const { return polls_ / 8; }
  std::uint32_t polls_between() const { return background_ ? 1 : polls_ == polls_of(Waiting::spin) ? 8 : 2; }  // rounds

  // What ranks tell each other beside their calls: up to most_note_bytes, under numbers that all count alike, from 1
  // on. To write waits for nobody. A rank writes the next one only when it has read this one of all ranks: so there
  // need be no more places than two.
  void write_note(std::uint64_t number, const void* data, std::size_t bytes);
  // Waits until `rank` has written it.
  Result read_note(std::uint32_t rank, std::uint64_t number, void* data, std::size_t bytes);

  // Breaks the group for all ranks; returns what broke it first.
  Result fail(Result result);

  // Room for pointers to one input of each rank, for as many numbers of bytes, and for a chunk (for user functions);
  // private to this process.
  const void** inputs() const { return inputs_.get(); }
  std::size_t* sizes() const { return sizes_.get(); }
  char* scratch() const { return scratch_; }
  std::size_t scratch_bytes() const { return scratch_bytes_; }

 private:
  static std::uint32_t hash(std::uint64_t label) { return static_cast<std::uint32_t>(label >> 32); }
  char* block(std::uint32_t rank) const { return blocks_ + rank * layout_.bytes; }
  Cell* cells_of(std::uint32_t rank) const { return reinterpret_cast<Cell*>(block(rank) + layout_.cells); }

  char* mailbox(std::uint32_t from, std::uint32_t to) const {
    return block(from) + layout_.mailboxes + to * layout_.mailbox_stride;
  }
  NotedFlag& taken_flag(std::uint32_t from, std::uint32_t by) const {
    return *reinterpret_cast<NotedFlag*>(mailbox(by, from) + shape_.letters * sizeof(Letter));
  }
  TreeNode* nodes_of(Way way) const { return nodes_.get() + static_cast<std::size_t>(way) * shape_.ranks; }
  std::uint32_t* children_of(Way way) const { return children_.get() + static_cast<std::size_t>(way) * shape_.ranks; }

  friend class BackgroundQueue;
  Result await_turn();
  Result suspend(Patience& patience, const Awaited& awaited);
  Result await_cells(std::uint64_t call_number);
  Result await_slots(std::uint64_t chunk);
  void copy_long(void* to, const void* from, std::size_t bytes) const;
  Result wait_long(const std::atomic<std::uint64_t>& flag, std::uint64_t least);
  void publish_and_wake(std::atomic<std::uint64_t>& flag, std::uint64_t value);
  void publish_and_ring(std::uint32_t reader, std::atomic<std::uint64_t>& flag, std::uint64_t value);
  void ring(Member& sleeper);
  std::atomic<std::uint32_t>& bell(Member& of) const;
  Result sleep(Patience& patience, const Awaited& awaited, std::uint64_t time_ns);
  bool is_time_to_drive(const Patience& patience, std::uint64_t round);
  bool gives_way(Patience& patience, std::uint64_t& time_ns);  // `time_ns`: now, 0 if it is not known yet
  static constexpr std::uint32_t polls_of(Waiting waiting) { return waiting == Waiting::spin ? 2000 : 50; }
  bool sleep_until_rung(const Awaited& awaited, std::uint64_t timeout_ns);
  Result look_around(std::uint64_t waited_ns);
  Result wait_for_join(std::uint64_t tries);
  void decide_waiting();
  void plant_trees();
  bool may_read() const;

  char* blocks_ = nullptr;  // rank 0's block
  Member* self_ = nullptr;
  std::uint64_t history_ = 0;
  std::uint64_t calls_ = 0, calls_free_ = 0;    // calls begun; the own cell is free for calls below
  std::uint64_t chunks_ = 0, chunks_free_ = 0;  // chunks numbered; the own slot is free for chunks below
  std::uint32_t rank_ = 0;
  std::uint32_t polls_ = 1000;
  // Rounds of waiting since the host was driven; those that are not a wait's first count 32 times.
  std::uint32_t undriven_ = 0;
  std::size_t short_copy_bytes_ = kernel::least_string_bytes;
  bool may_sleep_ = true;  // some rank of the group may be in a futex
  bool crowded_ = false;
  bool reads_memory_ = false;
  bool lets_write_ = true;
  std::uint64_t known_word_ = 0;  // read by the others
  Result broken_ = Result::ok;
  Across* across_ = nullptr;
  Observer* observer_ = nullptr;
  BackgroundQueue* background_ = nullptr;  // what its calls run in, if they do not wait
  Waiting waiting_ = Waiting::sleep;
  GroupShape shape_{};
  BlockLayout layout_{};
  Head* head_ = nullptr;
  Host host_;
  shared_memory::Seating seating_;
  shared_memory::ProcessIdentity identity_;
  const Selection* selection_ = nullptr;
  std::unique_ptr<Mail> mail_;
  std::unique_ptr<TreeNode[]> nodes_;          // of both trees, one behind the other
  std::unique_ptr<std::uint32_t[]> children_;  // likewise, and scratch behind them
  std::unique_ptr<const void*[]> inputs_;
  std::unique_ptr<std::size_t[]> sizes_;
  std::unique_ptr<shared_memory::Processors[]> processors_;  // of all ranks, from start() on
  std::unique_ptr<Place[]> places_;
  std::unique_ptr<char[]> scratch_memory_;
  char* scratch_ = nullptr;
  std::size_t scratch_bytes_ = 0;
};

}  // namespace millrace::collective
