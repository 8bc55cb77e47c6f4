// One communicator whose ranks are on several nodes, until they have agreed (node/nodes_agreement.h).
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "node/nodes_agreement.h"
#include "shim/node/nodes_group.h"

namespace millrace::shim {

class NodesAccord final : private node::NodesPost {
 public:
  using State = node::NodesAgreement::State;

  // `members`: ranks of the world, in the order of the communicator. Waits for nobody. May throw std::bad_alloc: then
  // nobody ever hears of this rank.
  NodesAccord(const node::Identity& identity, std::uint32_t rank, std::vector<int> members, std::uint64_t calls,
              std::uint64_t history);
  ~NodesAccord();

  // As those of NodesAgreement. A rank that runs out of memory while others may count on it ends the job.
  State enter(std::uint64_t calls, bool synchronises) noexcept;
  void spoil() noexcept;
  // Once it is shared, which it is on all ranks at this call.
  std::unique_ptr<NodesGroup> make_group() noexcept { return NodesGroup::make(identity_, members_, rank_); }

 private:
  void post(std::uint32_t member, const node::NodesLetter& letter) override;
  std::vector<node::NodesLetter> collect() override;
  std::uint64_t now_ns() override;
  void pass_time(std::uint32_t round) override;

  node::Identity identity_;
  std::uint32_t rank_;
  std::vector<int> members_;
  node::NodesAgreement agreement_;
};

}  // namespace millrace::shim
