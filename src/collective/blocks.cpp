#include "collective/blocks.h"

#include "collective/across/across.h"
#include "collective/algorithms.h"
#include "collective/exchange_label.h"

namespace millrace::collective {
namespace {

const AlgorithmEntry& chosen(const Group& group, Kind kind, std::size_t bytes) {
  return choose(group.selection(), kind,
                {bytes, group.ranks(), group.shape().cell_bytes, false, group.crowded(), group.shape().slot_bytes});
}

bool is_rooted(Kind kind) { return kind == Kind::gather || kind == Kind::scatter; }

// Whether a rank's lists are as long as its part of the call wants them.
bool are_complete(const Group& group, Kind kind, std::span<const Data> sent, std::span<const Data> received,
                  std::uint32_t root) {
  const std::size_t ranks = group.ranks();
  const bool at_root = group.rank() == root;
  switch (kind) {
    case Kind::gather: return sent.size() <= 1 && (at_root ? received.size() == ranks : !sent.empty());
    case Kind::scatter: return received.size() <= 1 && (at_root ? sent.size() == ranks : !received.empty());
    default: return received.size() == ranks && (sent.size() == 1 || sent.size() == ranks);
  }
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
  if (group.across()) return group.across()->moves(kind, bytes);
  return chosen(group, kind, bytes).run.blocks != nullptr;
}

Result exchange_blocks(Group& group, Kind kind, std::size_t bytes, std::span<const Data> sent,
                       std::span<const Data> received, std::uint32_t root) {
  if (group.across() && are_complete(group, kind, sent, received, root))
    return group.enter_across()->exchange_blocks(kind, bytes, sent, received, root);
  const AlgorithmEntry& entry = chosen(group, kind, bytes);
  if (group.across() || !entry.run.blocks || bytes > most_block_bytes ||
      !are_complete(group, kind, sent, received, root))
    return Result::not_supported;
  const std::uint64_t label = label_of(group, entry, bytes) + (is_rooted(kind) ? std::uint64_t{root} << 16 : 0);
  Call call;
  if (const Result result = enter_labelled(group, kind, label, call); result != Result::ok) return result;
  return entry.run.blocks(group, call, {kind, bytes, sent, received, root});
}

}  // namespace millrace::collective
