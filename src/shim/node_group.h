// The shared memory of one communicator, made and agreed on by all of its ranks through the host MPI.
#pragma once

#include <cstddef>
#include <memory>

#include "collective/group.h"
#include "shared_memory/segment.h"
#include "shim/word.h"

namespace millrace::shim {

class NodeGroup {
 public:
  // Collective over the communicator, whose ranks all run under Millrace and are on one node: all get a group or all
  // get null. A few collectives of the host. Never throws; errors of the host go through the communicator's handler.
  static std::unique_ptr<NodeGroup> make(Word comm, int rank, int ranks) noexcept;

  ~NodeGroup();
  NodeGroup(const NodeGroup&) = delete;
  NodeGroup& operator=(const NodeGroup&) = delete;

  collective::Group& group() { return group_; }

 private:
  NodeGroup() = default;

  shared_memory::Segment segment_;
  collective::Group group_;
  std::size_t bytes_ = 0;  // counted against the limit of the process
};

}  // namespace millrace::shim
