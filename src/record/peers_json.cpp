#include "record/peers_json.h"

#include <nlohmann/json.hpp>

namespace millrace::record {
namespace {

using nlohmann::ordered_json;

ordered_json pair_values(std::span<const PeerPair> pairs) {
  ordered_json values = ordered_json::array();
  for (const PeerPair& pair : pairs)
    values.push_back({{"from", pair.from}, {"to", pair.to}, {"messages", pair.messages}, {"bytes", pair.bytes}});
  return values;
}

}  // namespace

ordered_json peers_value(const PeersReport& peers) {
  return {{"messages", peers.messages},
          {"bytes", peers.bytes},
          {"others", {{"messages", peers.other_messages}, {"bytes", peers.other_bytes}}},
          {"foremost", pair_values(peers.foremost)},
          {"block_ranks", peers.block_ranks},
          {"matrix", pair_values(peers.matrix)}};
}

}  // namespace millrace::record
