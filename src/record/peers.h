// Messages between two ranks, by whom they go to: counted per thread without contention, like all calls (record.h).
//
// Hot path: add_message(). A thread's table grows with the number of ranks that it sends to, up to most_peers; what
// goes to further ones is counted together.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace millrace::record {

// Of a receiver that is not in MPI_COMM_WORLD, or of which nobody knows whether it is.
inline constexpr std::int32_t outside_world = -1;

inline constexpr std::size_t most_peers = 4096;      // of a thread
inline constexpr std::size_t most_peers_sent = 256;  // of a rank, in its record: those with most bytes

struct PeerCount {
  std::int32_t rank = outside_world;  // in MPI_COMM_WORLD
  std::uint64_t messages = 0;
  std::uint64_t bytes = 0;

  bool operator==(const PeerCount&) const = default;
};

// What one rank has sent.
struct Peers {
  std::vector<PeerCount> to;  // by rank
  PeerCount others;           // to processes that are not in MPI_COMM_WORLD, and to ranks for which there is no room

  bool operator==(const Peers&) const = default;
};

// Thread-safe; never throws.
void add_message(std::int32_t rank, std::uint64_t bytes);

// Of all threads of this process. Others may go on sending: each number is whole.
Peers peers_until_now();

// Leaves those with most bytes; the rest go to the others.
void keep_foremost(Peers& peers, std::size_t most = most_peers_sent);

}  // namespace millrace::record
