// What the ranks of a job have in common on one node, in a file of the user's directory that all of them map.
//
//   BoardHead | Attention | BoardMember[world_ranks]       the file
//   Region[most_regions] | the regions: records of         the arena: a memfd of the rank that made the board, or,
//     agreements, memory of groups ...                     where that cannot be had, the rest of the file
//
// Each rank waits in MPI_Init for those that make the file or join before it, so that nothing is made there which is
// not needed yet: pages of the table and of seats come when they are touched, what is left of memory is looked up
// later.
//
// Anybody of the same user may scribble here: whatever is read is checked before it is an index or an address, and read
// but once for both (shared_memory/read_once.h). Hence also no lock of the C library: a robust mutex holds addresses.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "node/agreement_record.h"
#include "shared_memory/attention.h"
#include "shared_memory/process.h"

namespace millrace::node {

inline constexpr std::uint64_t board_magic = 0x4d494c4c52414345;  // "MILLRACE"
inline constexpr std::uint32_t board_version = 6;
inline constexpr std::size_t board_page_bytes = 4096;

// A piece of the arena. Read and written under the lock, but for offset and bytes, which never change.
struct Region {
  Identity identity;  // of the communicator whose record it is; zero for other uses
  std::uint64_t offset_bytes, bytes;
  std::uint32_t in_use;
};
inline constexpr std::uint32_t most_regions = 4096;  // number 0 is none

struct BoardMember {
  std::atomic<std::uint32_t> here;  // 1: joined, 2: left; release, partner: acquire in Board::is_here()
  shared_memory::ProcessIdentity process;
  std::uint64_t digest;                // of all settings that must be equal
  std::uint64_t processors;            // shared_memory::ProcessorSet::name, within this node
  std::atomic<std::uint32_t> reports;  // 1: this rank was asked for a report
  std::atomic<std::uint32_t> record;   // region with its part of the report, from the end of its run on
  std::uint64_t record_bytes;
};

struct BoardHead {
  std::atomic<std::uint64_t> magic;  // last thing that its maker writes
  std::uint32_t version;
  std::uint32_t world_ranks;
  char key[1024];  // job_key(), whole
  shared_memory::ProcessIdentity maker;
  std::int32_t arena_descriptor;  // of the maker; -1: the arena is in this file, behind the members
  std::uint64_t arena_device, arena_inode, arena_offset_bytes, arena_bytes;
  std::atomic<std::uint64_t> budget_bytes;  // all regions in use together; 0: not known yet
  std::atomic<std::uint32_t> joined, left;
  // Of reports, under the lock: 1: a rank that ended early has reported of itself; all parts there are have been taken.
  std::atomic<std::uint32_t> has_early_report, are_parts_taken;
  // 1: a rank ended with the lock, or two claim to be the same; nothing new is agreed on.
  std::atomic<std::uint32_t> closed;
  alignas(64) std::atomic<std::uint32_t> lock_holder;  // 1 + rank that has the lock; a futex word for who waits
  std::uint64_t arena_used_bytes, in_use_bytes;
  std::uint32_t regions_used;
};

inline std::size_t round_to_pages(std::size_t bytes) {
  return (bytes + board_page_bytes - 1) / board_page_bytes * board_page_bytes;
}
inline constexpr std::size_t region_table_bytes =
    (most_regions * sizeof(Region) + board_page_bytes - 1) / board_page_bytes * board_page_bytes;
inline std::size_t attention_offset() { return round_to_pages(sizeof(BoardHead)); }
inline std::size_t members_offset() { return attention_offset() + round_to_pages(sizeof(shared_memory::Attention)); }
// What of the head and of the seats is used by so many ranks.
inline std::size_t used_head_bytes(std::uint32_t world_ranks) {
  const std::size_t seats = world_ranks <= shared_memory::Attention::most_seats ? world_ranks : 0;
  return attention_offset() + offsetof(shared_memory::Attention, seats) +
         seats * sizeof(shared_memory::Attention::Seat);
}
inline std::size_t board_bytes(std::uint32_t world_ranks) {
  return members_offset() + round_to_pages(world_ranks * sizeof(BoardMember));
}

}  // namespace millrace::node
