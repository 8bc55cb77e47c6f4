#include "collective/exchange.h"

#include "collective/exchange_label.h"
#include "collective/exchange_run.h"

namespace millrace::collective {

Result exchange(Group& group, Kind kind, std::uint64_t label, std::span<const Message> sends,
                std::span<const Message> receives, std::size_t block_bytes) {
  if (group.shape().letters == 0 || group.across()) return Result::not_supported;
  Call call;
  if (const Result result = enter_labelled(group, kind, label, call); result != Result::ok) return result;
  return ExchangeRun(group, kind, call, sends, receives, block_bytes).run();
}

}  // namespace millrace::collective
