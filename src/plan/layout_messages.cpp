#include "plan/layout_messages.h"

#include "plan/host_facts.h"

namespace millrace::plan {

MessageRanges message_ranges(const HostFacts& facts) {
  MessageRanges ranges{};
  for (const MessageRow& row : facts.messages) ranges[static_cast<std::size_t>(row.layout_class)] = row.range;
  return ranges;
}

MessageRanges collective_ranges(const HostFacts& facts, CollectiveClass collective) {
  MessageRanges ranges{};
  for (const CollectiveRow& row : facts.collectives)
    ranges[static_cast<std::size_t>(row.layout_class)] =
        collective == CollectiveClass::spread ? row.spread : row.exchange;
  return ranges;
}

}  // namespace millrace::plan
