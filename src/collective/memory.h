// How a group's segment is laid out. Anybody of the same user may scribble here: whatever is read is checked before it
// is an index, a length or a result, and read but once for both (shared_memory/read_once.h).
//
// Sizes as in GroupShape; every part begins on a pair of cache lines, because processors
// fetch lines in pairs and a pair with two writers would go back and forth for nothing.
//
//   page 0    Head: verdict, who sleeps
//   page 1..  rank 0's block | rank 1's block | ...           each whole pages, touched first by its owner
//
//   block     Member                          who this rank is, what it calls, how far it is, what it notes
//             Cell[calls_ahead]               ring of small messages: flag, label, up to 112 bytes
//             char[calls_ahead][cell_bytes]   ring of what does not fit there
//             char[slots][slot_stride]        ring of chunks of large messages
//             char[3][64 + slot_bytes + 64]   in groups of two ranks only: buffers that change hands (pair.h)
//             { Letter[letters], NotedFlag, SharedRow }[ranks]   mailboxes: to each rank, how many letters of its were
//                                             taken (mail.h), and a row of its that both copy (shared_row.h)
//             char[64][unit_bytes]            outbox: what letters do not hold themselves
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "collective/copy_choice.h"
#include "collective/group_shape.h"
#include "shared_memory/process.h"
#include "shared_memory/processors.h"
#include "shared_memory/topology.h"
#include "shared_memory/waiting.h"

namespace millrace::collective {

inline constexpr std::size_t pair_bytes = 128;  // two cache lines
inline constexpr std::size_t page_bytes = 4096;
inline constexpr std::size_t line_bytes = 64;

// How far behind the beginning of a line a row begins. Large messages lie so in shared memory as well, if it is known:
// then both copies, and often the receiver's, are between places that are alike in their lines. From the beginning of a
// line to 16 bytes behind one, where malloc has large arrays begin, string copies take up to twice as long within the
// caches of Zen 5, and many times as long on Zen 3 (docs/results/copies.md).
inline std::size_t line_phase(const void* row) { return reinterpret_cast<std::uintptr_t>(row) % line_bytes; }
inline constexpr std::size_t most_ranks = 1024;
inline constexpr std::size_t inline_bytes = pair_bytes - 16;

// A counter with one writer, which only grows.
struct alignas(pair_bytes) Flag {
  std::atomic<std::uint64_t> value;
};

// The same with a word in its line for who looks there only once the counter has come: stored before it.
struct alignas(pair_bytes) NotedFlag {
  std::atomic<std::uint64_t> value;
  std::atomic<std::uint64_t> note;
};

struct alignas(pair_bytes) Cell {
  std::atomic<std::uint64_t>
      sequence;         // number of the call that filled it, plus 1; partner: Group::wait by its readers
  std::uint64_t label;  // of that call: what the writer believes it to be
  char data[inline_bytes];
};

// What a cell says first of large messages in slots: where in a line they begin. Nothing else is believed to it.
inline std::size_t slot_phase_of(const Cell& cell) {
  std::uint64_t phase = 0;
  std::memcpy(&phase, cell.data, sizeof phase);
  return phase % line_bytes;
}

// What a rank tells all others beside its calls (Group::write_note).
inline constexpr std::size_t most_note_bytes = 9 * pair_bytes - 16;
struct alignas(pair_bytes) Note {
  std::atomic<std::uint64_t> number;  // partner: Group::wait by its readers
  std::uint64_t unused;
  char data[most_note_bytes];
};

struct alignas(pair_bytes) Member {
  // Written by join(), read by all after `present`.
  std::atomic<std::uint32_t> present;  // shape's fingerprint, not 0; join(), partner: may_read() and start()
  shared_memory::ProcessIdentity identity;
  shared_memory::Processors processors;
  shared_memory::Place place;
  shared_memory::Waiting waiting;  // asked for
  std::uint8_t crowded_node;       // 1: yes
  std::uint32_t bell_seat;         // 1 + its seat of Options::seating, where its bell is; 0: `bell` below
  std::uint64_t known_word;        // what the others find at `known_address` in this process, if they may read there
  std::uint64_t known_address;
  std::atomic<std::uint32_t> reads;  // 1: may not read all others, 2: may; join(), partner: start()
  std::atomic<std::uint32_t> left;   // 1: ended well; release in leave(), partner: acquire in look_around()

  // What this rank called last, for ranks that wait too long: (number << 32) | hash(label). Relaxed on both sides: each
  // word stands for itself.
  alignas(pair_bytes) std::atomic<std::uint64_t> announced[128];

  // What it has spent in Bcasts that it received, and in trials of exchanges (CostNote). Relaxed: each word stands for
  // itself.
  std::atomic<std::uint64_t> costs[CostNote::places];

  NotedFlag calls_done;  // all calls below this number: nothing of them is read by this rank any more. The note: number
                         // + 1 of the last in which it could not read a row of another rank's memory
  Flag chunks_done;      // the same for chunks of large messages
  Flag filled;           // chunks below this number that were this rank's to fill are filled; but of the first chunk of
                         // a call its cell tells, in a line that is not looked at yet while it is written
  Flag reduced;          // this rank's slices of chunks below this number are reduced
  Flag settled;          // of calls in which others read this rank's memory: (number + 1) * 2, + 1 if one could not

  // Sleeping: `bell` is the futex word of a rank that has no seat, `awaited` the offset in the segment of the flag
  // slept for.
  alignas(pair_bytes) std::atomic<std::uint32_t> bell;
  std::atomic<std::uint64_t> awaited;

  Note notes[2];  // of even and odd numbers
};

// Where two ranks meet (pair.h): flags and a few bytes of both in one line, so that it need cross only once.
struct alignas(pair_bytes) PairLine {
  struct Side {
    std::atomic<std::uint64_t> mark;  // (meetings so far << 16) | part of the label; written by one rank only
    char data[2][12];                 // of even and odd meetings
  } sides[2];
};
inline constexpr std::size_t pair_line_bytes = 12;

struct alignas(pair_bytes) Head {
  std::atomic<std::uint32_t> verdict;  // 0, or the Result that broke the group; set once by compare and exchange
  alignas(pair_bytes) std::atomic<std::uint64_t> asleep[most_ranks / 64];  // a bit per rank; partner: Group::publish
  PairLine pair_line;                                                      // of groups of two ranks
};

static_assert(sizeof(Head) <= page_bytes);
static_assert(sizeof(Cell) == pair_bytes);
static_assert(std::atomic<std::uint64_t>::is_always_lock_free && std::atomic<std::uint32_t>::is_always_lock_free);

// Head of a buffer that changes hands; the data follows in the same line if they fit there.
struct alignas(64) PairHead {
  std::atomic<std::uint64_t> sequence;  // partner: Group::wait by the other rank
  std::uint64_t label;
  union {
    char data[48];
    std::uint64_t phase;  // where data follow: line_phase()
  };
};
inline constexpr std::size_t pair_buffer_count = 3;

// What one rank tells another in an exchange (mail.h). Up to 32 bytes of data travel in one cache line.
enum class LetterKind : std::uint32_t {
  whole,  // the message is in the letter
  piece,  // in the outbox of the sender lie `length` bytes of it, from `first` on, beginning with `unit`
  row,    // it lies at `address` in the memory of the sender, until this letter is taken
};
struct alignas(pair_bytes) Letter {
  std::atomic<std::uint64_t> sequence;  // letters of this pair so far, this one included; partner: Exchange::receive()
  std::uint64_t label;                  // of the call
  std::uint64_t bytes;                  // of the whole message
  std::uint32_t taken;                  // letters of the other direction that the writer has taken: the low half
  LetterKind kind;
  union {
    char data[pair_bytes - 32];
    struct {
      std::uint64_t first;
      std::uint32_t length, unit, phase;  // phase: line_phase() of where it lay, and lies in its first unit
    } piece;
    std::uint64_t address;
  };
};

// A row under way from one rank to another, of which both copy parts (shared_row.h).
struct alignas(pair_bytes) SharedRow {
  std::atomic<std::uint64_t> parts;                // serial << 24 | first << 12 | end of those that nobody has taken
  std::uint64_t address, bytes;                    // where the reader wants it; written by it, as `parts` at first
  std::uint64_t check;                             // of both and the serial
  alignas(64) std::atomic<std::uint64_t> written;  // serial << 24 | failed << 12 | parts; written by the owner
};
static_assert(sizeof(SharedRow) == pair_bytes);

inline constexpr std::size_t letter_bytes = sizeof(Letter::data);
inline constexpr std::uint32_t outbox_units = 64;
static_assert(sizeof(Letter) == pair_bytes);

// Offsets within a block.
struct BlockLayout {
  std::size_t cells, cell_data, slots, slot_stride, pair_buffers, pair_stride, mailboxes, mailbox_stride, outbox, bytes;
};
// Whether slots have room for a row that does not begin at a line.
bool phases(const GroupShape& shape);
BlockLayout block_layout(const GroupShape& shape);

}  // namespace millrace::collective
