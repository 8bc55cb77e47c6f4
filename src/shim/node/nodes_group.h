// The ranks of one communicator on several nodes, as one of them sees it: the memory that it shares with those of its
// node, and a communicator of the host with one rank of each node (collective/across).
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "collective/across/across.h"
#include "node/agreement_record.h"
#include "shim/node/communicators.h"
#include "shim/node/host_wire.h"
#include "shim/node/node_accord.h"
#include "shim/node/node_group.h"

namespace millrace::shim {

class NodesGroup final : public KeptWithCommunicator {
 public:
  // So many a process may have at a time: hosts have some 2000 contexts for communicators, of which each takes one.
  static constexpr int most_at_a_time = 256;
  static bool has_room();

  // Collective over the members, by rank of the world, in the order of the communicator; this rank is `rank` of them.
  // `identity`: of these members. Null on all of them if it cannot be on one.
  static std::unique_ptr<NodesGroup> make(const node::Identity& identity, const std::vector<int>& members,
                                          std::uint32_t rank) noexcept;
  ~NodesGroup() override;

  // A group that sends its collectives here, and must end first.
  std::unique_ptr<NodeGroup> take_group() { return std::move(group_); }
  // What each rank does before ranks of several nodes use a group; false: it cannot. By one thread, before the first.
  static void prepare_with(bool (*prepare)() noexcept);
  // What is not freed by then is left to MPI_Finalize.
  static void leave_to_finalize();

 private:
  NodesGroup();
  bool join_here(const node::Identity& identity, const collective::NodeMap& map, std::uint32_t rank);
  bool open_line(Word members, const collective::NodeMap& map, std::uint32_t rank);

  std::unique_ptr<NodeAccord> accord_;  // of this node's ranks; null: this rank is alone
  std::unique_ptr<NodeGroup> here_;
  std::optional<collective::GroupHere> steps_here_;
  HostWire wire_;
  collective::Across across_;
  std::unique_ptr<NodeGroup> group_;
};

}  // namespace millrace::shim
