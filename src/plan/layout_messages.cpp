#include "plan/layout_messages.h"

#include "plan/host_facts.h"

namespace millrace::plan {

MessageRanges message_ranges(HostFamily family, bool on_amd) {
  const HostFacts& facts = host_facts(family);
  MessageRanges ranges{};
  for (const MessageRow& row : facts.messages) ranges[static_cast<std::size_t>(row.layout_class)] = row.range;
  if (!on_amd) return ranges;
  for (const MessageRow& row : facts.amd_messages) ranges[static_cast<std::size_t>(row.layout_class)] = row.range;
  return ranges;
}

MessageRanges collective_ranges(HostFamily family, CollectiveClass collective) {
  MessageRanges ranges{};
  for (const CollectiveRow& row : host_facts(family).collectives)
    ranges[static_cast<std::size_t>(row.layout_class)] =
        collective == CollectiveClass::spread ? row.spread : row.exchange;
  return ranges;
}

}  // namespace millrace::plan
