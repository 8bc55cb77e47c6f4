#include "collective/blocks.h"

#include "collective/across/across.h"
#include "collective/known_call.h"

namespace millrace::collective {
namespace {

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

}  // namespace

bool exchanges_blocks(const Group& group, Kind kind, std::size_t bytes) {
  if (group.across()) return group.across()->moves(kind, bytes);
  return known_blocks(group, kind, bytes, 0).entry != nullptr;
}

Result exchange_blocks(Group& group, Kind kind, std::size_t bytes, std::span<const Data> sent,
                       std::span<const Data> received, std::uint32_t root) {
  if (!are_complete(group, kind, sent, received, root)) return Result::not_supported;
  if (Across* const across = group.enter_across()) return across->exchange_blocks(kind, bytes, sent, received, root);
  const KnownCall known = known_blocks(group, kind, bytes, root);
  if (!known.entry) return Result::not_supported;
  return exchange_blocks(group, known, {kind, bytes, sent, received, root});
}

}  // namespace millrace::collective
