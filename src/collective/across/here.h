// What the ranks of one node do together in a collective over nodes: collectives of their group. An interface, so that
// the same composition can be walked through where there are no ranks (plan/nodes_steps.h).
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "collective/blocking.h"
#include "collective/exchange.h"
#include "collective/group.h"
#include "collective/reducer.h"
#include "collective/result.h"

namespace millrace::collective {

// As those of collective.h and exchange.h.
class Here {
 public:
  virtual Result barrier() = 0;
  virtual Result bcast(void* data, std::size_t bytes, std::uint32_t root) = 0;
  virtual Result reduce(const void* in, void* out, std::size_t elements, const Reducer& reducer,
                        std::uint32_t root) = 0;
  virtual Result reduce_scatter(const void* in, void* out, const Blocking& blocks, const Reducer& reducer) = 0;
  virtual Result scan(const void* in, void* out, std::size_t elements, const Reducer& reducer, bool inclusive) = 0;
  virtual Result exchange(std::uint64_t label, std::span<const Message> sends, std::span<const Message> receives) = 0;
  virtual Result publish(std::uint64_t label, const Data& own, std::span<const Data> receives,
                         std::size_t block_bytes) = 0;
  virtual void fail(Result result) = 0;

 protected:
  ~Here() = default;
};

class GroupHere final : public Here {
 public:
  // The group must outlive this.
  explicit GroupHere(Group& group);

  Result barrier() override;
  Result bcast(void* data, std::size_t bytes, std::uint32_t root) override;
  Result reduce(const void* in, void* out, std::size_t elements, const Reducer& reducer, std::uint32_t root) override;
  Result reduce_scatter(const void* in, void* out, const Blocking& blocks, const Reducer& reducer) override;
  Result scan(const void* in, void* out, std::size_t elements, const Reducer& reducer, bool inclusive) override;
  Result exchange(std::uint64_t label, std::span<const Message> sends, std::span<const Message> receives) override;
  Result publish(std::uint64_t label, const Data& own, std::span<const Data> receives,
                 std::size_t block_bytes) override;
  void fail(Result result) override { group_.fail(result); }

 private:
  Group& group_;
};

}  // namespace millrace::collective
