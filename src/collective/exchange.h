// Messages between all pairs of a group at once: what MPI_Gather(v), MPI_Scatter(v), MPI_Allgather(v), MPI_Alltoall(v,
// w) and the neighbourhood collectives come down to (MPI 4.1, chapters 6 and 8).
#pragma once
#include <cstddef>
#include <cstdint>
#include <span>
#include "collective/group.h"
#include "collective/result.h"

namespace millrace::collective {

// The bytes of one message, in packed order, as one end of it has them: in a row, or wherever `move` finds them.
struct Data {
  std::size_t bytes = 0;
  void* row = nullptr;  // where they lie in a row; null: by `move`
  // Packs bytes [first, first + length) of the message into `packed` (at the sending end), or unpacks them from there
  // (at the receiving end). Any thread-private state is the caller's. Must not fail.
  void (*move)(void* context, std::size_t first, std::size_t length, void* packed) = nullptr;
  void* context = nullptr;
};

// One message to or from `peer`, which may be this rank itself. Messages from one rank to another match in the order in
// which both list them. Messages of zero bytes may be listed; both ends then list them.
struct Message {
  std::uint32_t peer;
  Data data;
};

// Every rank of the group calls it, each with what it sends and receives. `kind` and `label` (anything that all ranks
// know to be equal: root, a hash of counts ...) guard against ranks that called different things. A message whose two
// ends differ in bytes breaks the group with Result::mismatch; nothing is written past the receiver's bytes. Returns
// when what is received has come and what is sent may be overwritten. Buffers must not overlap.
// `block_bytes`: of every message, where all ranks know that they are alike; else 0.
Result exchange(Group& group, Kind kind, std::uint64_t label, std::span<const Message> sends,
                std::span<const Message> receives, std::size_t block_bytes = 0);

// The same bytes to everybody (MPI_Allgather(v)): `own` is published once; receives[rank] says where the bytes of each
// rank go (this rank's own entry too, with `row`/`move` both null if it is in place). receives.size() == group.ranks().
// block_bytes as above.
Result publish(Group& group, Kind kind, std::uint64_t label, const Data& own, std::span<const Data> receives,
               std::size_t block_bytes = 0);

// A block of `bytes` for each rank from each (MPI_Alltoall), the same one for all (MPI_Allgather), from each to the
// root (MPI_Gather) or from the root to each (MPI_Scatter), where exchanges_blocks() has an algorithm for it: equal on
// all ranks, if the program is right. `sent` has one block, which goes to everybody or to the root, or one for each
// rank; received[rank] says where that of each rank goes. Ranks that send, or receive, nothing have none: those of a
// Gather but the root receive none, and a Scatter's send none and have one to receive. A rank's own block with neither
// `row` nor `move` at its receiving end, or none at all, stays where it is. truncated: more came than a block has room
// for. Buffers must not overlap.
Result exchange_blocks(Group& group, Kind kind, std::size_t bytes, std::span<const Data> sent,
                       std::span<const Data> received, std::uint32_t root = 0);
// Whether blocks of so many bytes go that way; else by exchange() and publish(). The same on all ranks.
bool exchanges_blocks(const Group& group, Kind kind, std::size_t bytes);

}  // namespace millrace::collective
