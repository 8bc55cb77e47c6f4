#include "collective/exchange.h"

#include <new>
#include <vector>

#include "collective/exchange_run.h"

namespace millrace::collective {
namespace {

// Begins the call: the label takes the place of bytes and root.
Result enter(Group& group, Kind kind, std::uint64_t label, Call& call) {
  const std::uint64_t mixed = (label + 1) * 0x9e3779b97f4a7c15u;
  return group.enter(kind, mixed >> 24, static_cast<std::uint32_t>(mixed >> 4 & 0xfffff), call);
}

}  // namespace

Result exchange(Group& group, Kind kind, std::uint64_t label, std::span<const Message> sends,
                std::span<const Message> receives) {
  if (group.shape().letters == 0) return Result::not_supported;
  Call call;
  if (const Result result = enter(group, kind, label, call); result != Result::ok) return result;
  return ExchangeRun(group, call, sends, receives).run();
}

Result publish(Group& group, Kind kind, std::uint64_t label, const Data& own, std::span<const Data> receives) {
  if (group.shape().letters == 0) return Result::not_supported;
  std::vector<Message> to, from;
  for (std::uint32_t rank = 0; rank < group.ranks(); ++rank) {
    const Data& data = receives[rank];
    if (rank == group.rank() && !data.row && !data.move) continue;
    to.push_back({rank, own});
    from.push_back({rank, data});
  }
  return exchange(group, kind, ~label, to, from);
}

}  // namespace millrace::collective
