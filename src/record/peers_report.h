// Who sent how much to whom, of all ranks.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "record/rank_record.h"

namespace millrace::record {

// Of two ranks, or of two blocks of ranks that are next to each other, by the first of each.
struct PeerPair {
  std::int32_t from = 0;
  std::int32_t to = 0;
  std::uint64_t messages = 0;
  std::uint64_t bytes = 0;

  bool operator==(const PeerPair&) const = default;
};

// However many ranks there are, a matrix is no larger.
inline constexpr std::int32_t most_peer_blocks = 64;
inline constexpr std::size_t most_foremost_pairs = 32;

struct PeersReport {
  std::uint64_t messages = 0;  // of all, those to others included
  std::uint64_t bytes = 0;
  std::uint64_t other_messages = 0;
  std::uint64_t other_bytes = 0;
  std::vector<PeerPair> foremost;  // of two ranks; most bytes first
  std::int32_t block_ranks = 1;
  std::vector<PeerPair> matrix;  // without what is empty; by `from`, then `to`
};

PeersReport merge_peers(std::span<const RankRecord> records, std::int32_t ranks);

// "rank 0 to 1 12.0 MiB (3.00 k messages)"
std::string in_words(const PeerPair& pair);

}  // namespace millrace::record
