#include "tools/report/peers.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <stdexcept>

#include "record/peers_report.h"
#include "record/units.h"
#include "tools/report/run.h"
#include "tools/report/values.h"

namespace millrace::tools {
namespace {

using nlohmann::json;
using record::percent;
using record::scaled_bytes;
using record::scaled_count;

std::vector<RunPair> pairs_of(const json& values, std::uint64_t ranks) {
  std::vector<RunPair> pairs;
  for (const json& value : values) {
    pairs.push_back(
        {count_of(value, "from"), count_of(value, "to"), count_of(value, "messages"), count_of(value, "bytes")});
    if (std::max(pairs.back().from, pairs.back().to) >= ranks) throw std::runtime_error("a rank that is none");
  }
  return pairs;
}

double share(std::uint64_t part, std::uint64_t whole) {
  return whole == 0 ? 0 : static_cast<double>(part) / static_cast<double>(whole);
}

}  // namespace

RunPeers peers_of(const json& report, std::uint64_t ranks) {
  const auto found = report.find("peers");
  if (found == report.end()) return {};
  RunPeers peers{count_of(*found, "messages"),
                 count_of(*found, "bytes"),
                 count_of(found->at("others"), "messages"),
                 count_of(found->at("others"), "bytes"),
                 pairs_of(found->at("foremost"), ranks),
                 count_of(*found, "block_ranks"),
                 pairs_of(found->at("matrix"), ranks)};
  // What is drawn of it is a square of that many blocks.
  if (peers.block_ranks == 0 || ranks / peers.block_ranks > record::most_peer_blocks)
    throw std::runtime_error("a matrix of messages is larger than any");
  for (const RunPair& pair : peers.matrix)
    if (pair.from % peers.block_ranks != 0 || pair.to % peers.block_ranks != 0)
      throw std::runtime_error("a rank of the matrix of messages is not the first of its block");
  return peers;
}

std::string peers_text(const Run& run) {
  constexpr std::size_t most = 10;
  const RunPeers& peers = run.peers;
  if (peers.messages == 0) return {};
  std::string text = fmt::format("\nwho sent most to whom, of {} messages with {}\n", scaled_count(peers.messages),
                                 scaled_bytes(peers.bytes));
  text +=
      fmt::format("{:>8} {:>8} {:>10} {:>10} {:>10} {:>7}\n", "from", "to", "messages", "bytes", "a message", "share");
  const auto row = [&](const std::string& from, const std::string& to, std::uint64_t messages, std::uint64_t bytes) {
    const std::uint64_t each = messages == 0 ? 0 : bytes / messages;
    text += fmt::format("{:>8} {:>8} {:>10} {:>10} {:>10} {:>7}\n", from, to, scaled_count(messages),
                        scaled_bytes(bytes), scaled_bytes(each), percent(share(bytes, peers.bytes)));
  };
  std::uint64_t shown_messages = 0, shown_bytes = 0;
  for (std::size_t index = 0; index < std::min(most, peers.foremost.size()); ++index) {
    const RunPair& pair = peers.foremost[index];
    row(std::to_string(pair.from), std::to_string(pair.to), pair.messages, pair.bytes);
    shown_messages += pair.messages;
    shown_bytes += pair.bytes;
  }
  if (peers.other_messages > 0) row("any", "others", peers.other_messages, peers.other_bytes);
  shown_messages += peers.other_messages;
  shown_bytes += peers.other_bytes;
  if (shown_messages < peers.messages)
    row("all", "the rest", peers.messages - shown_messages, peers.bytes - std::min(shown_bytes, peers.bytes));
  return text;
}

}  // namespace millrace::tools
