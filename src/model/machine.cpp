#include "model/machine.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <charconv>

namespace millrace::model {
namespace {

constexpr std::uint32_t most_cores = 4096;

std::string lower(std::string_view text) {
  std::string word(text);
  std::transform(word.begin(), word.end(), word.begin(),
                 [](unsigned char letter) { return static_cast<char>(std::tolower(letter)); });
  return word;
}

bool is_between(std::string_view type) {
  for (const std::string_view known : {"numa", "node", "group", "die", "l1", "l2", "l4", "l5"})
    if (type.starts_with(known)) return true;
  return false;
}

// The next word, without what stands in brackets: memory and sizes.
std::string_view next_word(std::string_view& text) {
  int depth = 0;
  std::size_t begin = 0;
  for (; begin < text.size(); ++begin) {
    if (text[begin] == '[')
      ++depth;
    else if (text[begin] == ']')
      --depth;
    else if (depth == 0 && text[begin] != ' ')
      break;
  }
  text.remove_prefix(begin);
  std::size_t end = 0;
  for (depth = 0; end < text.size() && (depth != 0 || text[end] != ' '); ++end)
    depth += text[end] == '(' ? 1 : text[end] == ')' ? -1 : 0;
  const std::string_view word = text.substr(0, end);
  text.remove_prefix(end);
  return word;
}

}  // namespace

Distance Machine::between(std::uint32_t core, std::uint32_t other) const {
  const shared_memory::Place own = place(core), its = place(other);
  if (core == other) return Distance::none;
  if (own.at[0] != its.at[0]) return Distance::across;
  return own.at[1] == its.at[1] ? Distance::cache : Distance::package;
}

std::string read_machine(std::string_view text, Machine& machine) {
  Machine read;
  std::uint64_t all = 1;
  bool has_cores = false, has_caches = false;
  for (std::string_view word = next_word(text); !word.empty(); word = next_word(text)) {
    const std::size_t colon = word.find(':');
    const std::string type = lower(word.substr(0, colon));
    std::uint32_t count = 0;
    if (colon != std::string_view::npos) {
      const std::string_view digits = word.substr(colon + 1, word.find('(') - colon - 1);
      const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), count);
      if (error != std::errc{} || end != digits.data() + digits.size()) count = 0;
    }
    if (count == 0 || count > most_cores) return fmt::format("'{}' has no count of 1 to 4096, as in core:8", word);
    if (type == "pu" && has_cores) continue;
    all *= count;
    if (all > most_cores) return "more than 4096 cores";
    const auto so_far = static_cast<std::uint32_t>(all);
    if (type.starts_with("pack") || type == "socket") {
      read.packages = so_far;
    } else if (type.starts_with("l3")) {
      read.caches = so_far;
      has_caches = true;
    } else if (type == "core" || type == "pu") {
      read.cores = so_far;
      has_cores = true;
    } else if (!is_between(type)) {
      return fmt::format("'{}' is none of pack, numa, die, l3, l2, l1, core, pu", word);
    }
  }
  if (!has_cores) return "no cores: 'pack:2 l3:8 core:8' is two packages with eight caches of eight cores each";
  if (!has_caches || read.caches < read.packages) read.caches = read.packages;
  machine = read;
  return "";
}

}  // namespace millrace::model
