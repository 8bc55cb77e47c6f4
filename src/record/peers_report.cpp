#include "record/peers_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>

#include "record/units.h"

namespace millrace::record {
namespace {

using Pairs = std::map<std::pair<std::int32_t, std::int32_t>, PeerPair>;

void add(Pairs& pairs, std::int32_t from, const PeerCount& count, std::int32_t block_ranks) {
  const std::int32_t first = from - from % block_ranks, second = count.rank - count.rank % block_ranks;
  PeerPair& sum = pairs[{first, second}];
  sum = {first, second, sum.messages + count.messages, sum.bytes + count.bytes};
}

bool is_before(const PeerPair& left, const PeerPair& right) {
  return left.bytes != right.bytes ? left.bytes > right.bytes : left.messages > right.messages;
}

std::vector<PeerPair> values_of(const Pairs& pairs) {
  std::vector<PeerPair> values;
  values.reserve(pairs.size());
  for (const auto& [place, pair] : pairs) values.push_back(pair);
  return values;
}

}  // namespace

PeersReport merge_peers(std::span<const RankRecord> records, std::int32_t ranks) {
  PeersReport report;
  // Blocks of two, four, eight ranks: their borders are those of nodes more often than not.
  while ((ranks - 1) / report.block_ranks >= most_peer_blocks) report.block_ranks *= 2;
  Pairs pairs, blocks;
  for (const RankRecord& record : records) {
    report.other_messages += record.peers.others.messages;
    report.other_bytes += record.peers.others.bytes;
    for (const PeerCount& count : record.peers.to) {
      report.messages += count.messages;
      report.bytes += count.bytes;
      add(pairs, record.identity.rank, count, 1);
      add(blocks, record.identity.rank, count, report.block_ranks);
    }
  }
  report.messages += report.other_messages;
  report.bytes += report.other_bytes;
  report.matrix = values_of(blocks);
  report.foremost = values_of(pairs);
  std::ranges::stable_sort(report.foremost, is_before);
  report.foremost.resize(std::min(report.foremost.size(), most_foremost_pairs));
  return report;
}

std::string in_words(const PeerPair& pair) {
  return fmt::format("rank {} to {} {} ({} messages)", pair.from, pair.to, scaled_bytes(pair.bytes),
                     scaled_count(pair.messages));
}

}  // namespace millrace::record
