#include "collective/blocks.h"

#include "collective/algorithms.h"
#include "collective/exchange_label.h"

namespace millrace::collective {
namespace {

const AlgorithmEntry& chosen(const Group& group, Kind kind, std::size_t bytes) {
  return choose(group.selection(), kind, {bytes, group.ranks(), group.shape().cell_bytes, false, group.crowded()});
}

// Ranks that go different ways have called with different labels; exchange() and publish() use those of roots and
// their complements.
std::uint64_t label_of(const Group& group, const AlgorithmEntry& entry, std::size_t bytes) {
  const std::size_t chunk = std::min(group.selection().pair_chunk_bytes, group.shape().slot_bytes);
  const std::uint64_t way = bytes <= block_line_bytes ? 0 : bytes <= chunk ? 1 : 2;
  return std::uint64_t{1} << 40 | static_cast<std::uint64_t>(entry.algorithm) << 2 | way;
}

}  // namespace

bool exchanges_blocks(const Group& group, Kind kind, std::size_t bytes) {
  return chosen(group, kind, bytes).run.blocks != nullptr;
}

Result exchange_blocks(Group& group, Kind kind, std::size_t bytes, std::span<const Data> sent,
                       std::span<const Data> received) {
  const AlgorithmEntry& entry = chosen(group, kind, bytes);
  const std::uint32_t ranks = group.ranks();
  if (!entry.run.blocks || bytes > most_block_bytes || received.size() != ranks ||
      (sent.size() != 1 && sent.size() != ranks))
    return Result::not_supported;
  Call call;
  if (const Result result = enter_labelled(group, kind, label_of(group, entry, bytes), call); result != Result::ok)
    return result;
  return entry.run.blocks(group, call, {kind, bytes, sent, received});
}

}  // namespace millrace::collective
