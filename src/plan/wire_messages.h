// The messages that a collective comes down to, by algorithms that MPI libraries are known to choose among (Thakur,
// Rabenseifner and Gropp, IJHPCA 2005), and what of them nodes send each other. Which one a host takes is its own
// affair: so what is said of a host is what several of them come to.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "collective/selection.h"

namespace millrace::plan {

// A call of so many ranks.
struct WireCall {
  collective::Kind kind;
  std::uint32_t ranks;
  std::uint32_t root = 0;
  // Of each rank's block where it has one (gather, scatter, allgather, reduce_scatter); else one number for all. Of an
  // alltoall of blocks of several sizes: of what the root and each rank swap, which goes by the product of their sizes.
  std::vector<std::size_t> bytes;

  bool operator==(const WireCall&) const = default;
};

using WireMessage = std::function<void(std::uint32_t from, std::uint32_t to, std::uint64_t bytes)>;

struct WireAlgorithm {
  collective::Kind kind;
  const char* name;
  void (*list)(const WireCall& call, const WireMessage& message);
};
std::span<const WireAlgorithm> wire_algorithms();

// What a node sends to others and gets from them.
struct NodeTraffic {
  std::uint64_t messages_out = 0, bytes_out = 0, bytes_in = 0;
};
// Adds what `times` such calls come to. `node_of`: of each rank of the call.
void add_traffic(const WireAlgorithm& algorithm, const WireCall& call, std::uint64_t times,
                 std::span<const std::uint32_t> node_of, std::span<NodeTraffic> nodes);

}  // namespace millrace::plan
