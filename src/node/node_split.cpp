#include "node/node_split.h"

#include <charconv>

namespace millrace::node {
namespace {

constexpr std::uint32_t most_number = 4096;

std::optional<std::vector<std::uint32_t>> numbers(std::string_view text, char separator) {
  std::vector<std::uint32_t> found;
  while (true) {
    const std::string_view word = text.substr(0, text.find(separator));
    std::uint32_t number = 0;
    const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), number);
    if (word.empty() || error != std::errc{} || end != word.data() + word.size() || number > most_number)
      return std::nullopt;
    found.push_back(number);
    if (word.size() == text.size()) return found;
    text.remove_prefix(word.size() + 1);
  }
}

}  // namespace

std::optional<std::vector<std::uint32_t>> split_nodes(std::string_view text, std::uint32_t ranks) {
  const bool by_rank = text.find(',') != std::string_view::npos;
  const std::optional<std::vector<std::uint32_t>> given = numbers(text, by_rank ? ',' : '+');
  if (!given) return std::nullopt;
  std::vector<std::uint32_t> nodes;
  if (by_rank) {
    for (std::uint32_t rank = 0; rank < ranks; ++rank) nodes.push_back((*given)[rank % given->size()]);
    return nodes;
  }
  for (std::uint32_t node = 0; nodes.size() < ranks; ++node) {
    const std::uint32_t size = (*given)[node % given->size()];
    if (size == 0) return std::nullopt;
    for (std::uint32_t i = 0; i < size && nodes.size() < ranks; ++i) nodes.push_back(node);
  }
  return nodes;
}

}  // namespace millrace::node
