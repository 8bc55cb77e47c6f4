// The shared memory of one communicator: a region of the board, joined by this rank.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "collective/group.h"
#include "node/board.h"

namespace millrace::shim {

// How groups that are made from now on choose and wait. By one thread, before the first is made; equal on all ranks.
void configure_node_groups(const collective::Selection& selection, collective::Waiting waiting);

class NodeGroup {
 public:
  // The size of the region for so many ranks; 0 if they are too many for the memory that the node has to spare.
  static std::size_t region_bytes(node::Board& board, std::uint32_t ranks);

  // Writes into the region who this rank is; waits for nobody. Null if memory is short. Never throws.
  static std::unique_ptr<NodeGroup> join(node::Board& board, std::uint32_t region, std::uint32_t rank,
                                         std::uint32_t ranks) noexcept;

  // A group without memory of its own, whose collectives go over nodes. Null: no memory. Never throws.
  static std::unique_ptr<NodeGroup> over(collective::Across& across) noexcept;

  collective::Group& group() { return group_; }

 private:
  collective::Group group_;
};

}  // namespace millrace::shim
