// One communicator of this rank and its record on the board of the job.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "node/agreement.h"
#include "node/board.h"
#include "shim/node/node_group.h"

namespace millrace::shim {

class NodeAccord {
 public:
  // Finds the record, or makes it, and says that this rank takes part. `members`: ranks of the world, in the order of
  // the communicator. Null if there is no room. Waits for nobody; never throws.
  static std::unique_ptr<NodeAccord> join(node::Board& board, const node::Identity& identity, std::uint32_t rank,
                                          std::uint32_t ranks, std::uint64_t calls, std::uint64_t history) noexcept;
  // Leaves it; the last of all members gives back what they shared. The group must have ended.
  ~NodeAccord();
  NodeAccord(const NodeAccord&) = delete;
  NodeAccord& operator=(const NodeAccord&) = delete;

  node::Agreement& agreement() { return *agreement_; }
  // For ranks that have agreed otherwise: finds or makes the memory and joins it. False: there is none.
  bool join_memory();
  // What this rank has joined, once it has promised; the caller takes it when all have.
  std::unique_ptr<NodeGroup> take_group() { return std::move(group_); }
  // Memory of so many bytes, zeroed at first, in which ranks say when they came to their calls; the same on all. Null:
  // there is no room. Waits for nobody.
  char* find_arrivals(std::size_t bytes);
  // There was no memory to share when this rank looked last.
  bool lacks_memory() const { return lacks_memory_; }

 private:
  NodeAccord(node::Board& board, std::uint32_t number, node::AgreementRecord& record, std::uint32_t rank,
             std::uint32_t ranks)
      : board_(board), number_(number), record_(record), rank_(rank), ranks_(ranks) {}

  static bool prepare(void* self);
  static std::uint32_t find_memory(void* self);

  node::Board& board_;
  std::uint32_t number_;  // of the region with the record
  node::AgreementRecord& record_;
  std::uint32_t rank_, ranks_;
  bool lacks_memory_ = false;
  std::unique_ptr<NodeGroup> group_;
  std::optional<node::Agreement> agreement_;
};

}  // namespace millrace::shim
