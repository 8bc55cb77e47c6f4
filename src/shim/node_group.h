// The shared memory of one communicator, made and agreed on by all of its ranks through the host MPI.
//
// Making it takes about a millisecond, most of it for pages. So when a communicator ends, its group is kept for the
// next communicator of the same ranks in the same order (MPI_Comm_dup and MPI_Comm_free in a loop): the numbers in the
// flags simply go on. Ranks keep groups by themselves; whether all of them have kept the same one is part of the
// agreement. Meanwhile the group that a rank offers is nobody else's: another thread may be agreeing on a communicator
// of the same ranks.
#pragma once

#include <cstddef>
#include <memory>
#include <vector>

#include "collective/group.h"
#include "shared_memory/segment.h"
#include "shim/word.h"

namespace millrace::shim {

// How groups that are made from now on choose and wait. By one thread, before the first is made; equal on all ranks.
void configure_node_groups(const collective::Selection& selection, collective::Waiting waiting);

class NodeGroup {
 public:
  // Collective over the communicator, whose ranks all run under Millrace and are on one node: all get a group or all
  // get null. Several collectives of the host. `members`: the ranks in MPI_COMM_WORLD, in the order of the
  // communicator. Never throws; errors of the host go through the communicator's handler.
  static std::unique_ptr<NodeGroup> make(Word comm, int rank, std::vector<int> members) noexcept;

  ~NodeGroup();
  NodeGroup(const NodeGroup&) = delete;
  NodeGroup& operator=(const NodeGroup&) = delete;

  collective::Group& group() { return group_; }
  // Given by the first member; with the members, the same on all ranks and unlike any other. Not 0.
  int number() const { return number_; }

 private:
  friend std::unique_ptr<NodeGroup> take_kept_group(const std::vector<int>& members);
  friend void keep_group(std::unique_ptr<NodeGroup> group) noexcept;
  NodeGroup() = default;

  shared_memory::Segment segment_;
  collective::Group group_;
  std::vector<int> members_;
  int number_ = 0;
  std::size_t bytes_ = 0;  // counted against the limit of the process
};

// The group that was kept longest for these members, or null.
std::unique_ptr<NodeGroup> take_kept_group(const std::vector<int>& members);
// It was not used: as if it had not been taken.
void return_kept_group(std::unique_ptr<NodeGroup> group) noexcept;
// Keeps the group of a communicator that has ended, or ends it if it is broken or enough are kept.
void keep_group(std::unique_ptr<NodeGroup> group) noexcept;
void forget_kept_groups();

}  // namespace millrace::shim
