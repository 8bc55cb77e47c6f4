#include "model/machine.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <numeric>
#include <unordered_map>

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
  for (const std::string_view known : {"numa", "node", "group", "die", "l1", "l2", "l3", "l4", "l5"})
    if (type.starts_with(known)) return true;
  return false;
}

bool is_shared_cache(std::string_view type) { return type.size() >= 2 && type[0] == 'l' && type[1] >= '2'; }

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

// Parts of a machine that are all alike: how many packages, caches of each, cores of each. 0: goes on in the last one.
struct Part {
  std::uint32_t packages = 0, caches = 0, cores = 0, threads = 1;
};

std::string read_part(std::string_view text, Part& part) {
  std::uint64_t since_package = 1, since_cache = 1;
  bool has_cores = false;
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
    if (type == "pu" && has_cores) {
      part.threads = count;
      continue;
    }
    since_package *= count;
    since_cache *= count;
    if (since_package > most_cores) return "more than 4096 cores";
    if (type.starts_with("pack") || type == "socket") {
      part.packages = static_cast<std::uint32_t>(since_package);
      since_package = since_cache = 1;
    } else if (is_shared_cache(type) && part.caches == 0) {
      part.caches = static_cast<std::uint32_t>(since_package);
      since_cache = 1;
    } else if (type == "core" || type == "pu") {
      part.cores = static_cast<std::uint32_t>(since_cache);
      has_cores = true;
    } else if (!is_between(type)) {
      return fmt::format("'{}' is none of pack, numa, die, l3, l2, l1, core, pu", word);
    }
  }
  if (!has_cores) return "no cores: 'pack:2 l3:8 core:8' is two packages with eight caches of eight cores each";
  return "";
}

std::string part_text(const Part& part) {
  std::string text;
  if (part.packages != 0) text += fmt::format("pack:{} ", part.packages);
  if (part.caches != 0) text += fmt::format("l3:{} ", part.caches);
  text += fmt::format("core:{}", part.cores);
  return part.threads == 1 ? text : text + fmt::format(" pu:{}", part.threads);
}

// Neighbours that are alike, and whole, become one: caches of a package, and then packages.
void merge(std::vector<Part>& parts, std::uint32_t Part::*count) {
  for (std::size_t at = 1; at < parts.size();) {
    Part &before = parts[at - 1], &part = parts[at];
    const bool is_same_package = count == &Part::caches && part.packages == 0;
    const bool is_alike = before.cores == part.cores && before.threads == part.threads &&
                          (is_same_package || (count == &Part::packages && before.caches == part.caches));
    const bool is_whole = at + 1 == parts.size() || parts[at + 1].*count != 0;
    if (is_alike && is_whole && part.*count != 0 && before.*count != 0) {
      before.*count += part.*count;
      parts.erase(parts.begin() + static_cast<std::ptrdiff_t>(at));
    } else {
      ++at;
    }
  }
}

}  // namespace

std::uint32_t Machine::threads() const {
  return std::accumulate(cores.begin(), cores.end(), 0u,
                         [](std::uint32_t sum, const Core& core) { return sum + core.threads; });
}

Distance Machine::between(std::uint32_t core, std::uint32_t other) const {
  const shared_memory::Place &own = place(core), &its = place(other);
  if (core == other) return Distance::none;
  if (own.at[0] != its.at[0]) return Distance::across;
  return own.at[1] == its.at[1] ? Distance::cache : Distance::package;
}

std::string make_machine(std::vector<Core> cores, Machine& machine) {
  if (cores.empty()) return "no cores";
  if (cores.size() > most_cores) return "more than 4096 cores";
  std::unordered_map<std::uint32_t, std::uint32_t> packages;
  std::unordered_map<std::uint64_t, std::uint32_t> caches;
  for (Core& core : cores)
    core.place.at[0] =
        packages.try_emplace(core.place.at[0], static_cast<std::uint32_t>(packages.size())).first->second;
  std::stable_sort(cores.begin(), cores.end(),
                   [](const Core& one, const Core& other) { return one.place.at[0] < other.place.at[0]; });
  for (Core& core : cores)
    core.place.at[1] = caches
                           .try_emplace(std::uint64_t{core.place.at[0]} << 32 | core.place.at[1],
                                        static_cast<std::uint32_t>(caches.size()))
                           .first->second;
  std::stable_sort(cores.begin(), cores.end(),
                   [](const Core& one, const Core& other) { return one.place.at[1] < other.place.at[1]; });
  machine.packages = static_cast<std::uint32_t>(packages.size());
  machine.caches = static_cast<std::uint32_t>(caches.size());
  machine.cores = std::move(cores);
  return "";
}

std::string read_machine(std::string_view text, Machine& machine) {
  std::vector<Core> cores;
  std::uint32_t package = 0, cache = 0;
  for (bool is_first = true;; is_first = false) {
    const std::size_t plus = text.find('+');
    Part part;
    if (std::string wrong = read_part(text.substr(0, plus), part); !wrong.empty()) return wrong;
    const std::uint32_t packages = std::max(1u, part.packages), caches = std::max(1u, part.caches);
    if (cores.size() + std::uint64_t{packages} * caches * part.cores > most_cores) return "more than 4096 cores";
    const bool new_package = part.packages != 0 && !is_first;
    const bool new_cache = (part.packages != 0 || part.caches != 0) && !is_first;
    for (std::uint32_t each = 0; each < packages; ++each) {
      if (each != 0 || new_package) ++package;
      for (std::uint32_t of_package = 0; of_package < caches; ++of_package) {
        if (each != 0 || of_package != 0 || new_cache) ++cache;
        cores.insert(cores.end(), part.cores, Core{{{package, cache}}, part.threads});
      }
    }
    if (plus == std::string_view::npos) break;
    text.remove_prefix(plus + 1);
  }
  return make_machine(std::move(cores), machine);
}

std::string machine_text(const Machine& machine) {
  std::vector<Part> parts;
  for (std::size_t at = 0; at < machine.cores.size(); ++at) {
    const Core& core = machine.cores[at];
    const bool new_package = at == 0 || core.place.at[0] != machine.cores[at - 1].place.at[0];
    const bool new_cache = new_package || core.place.at[1] != machine.cores[at - 1].place.at[1];
    if (new_cache || core.threads != parts.back().threads) parts.push_back({new_package, new_cache, 0, core.threads});
    ++parts.back().cores;
  }
  merge(parts, &Part::caches);
  merge(parts, &Part::packages);
  std::string text;
  for (const Part& part : parts) text += (text.empty() ? "" : " + ") + part_text(part);
  return text;
}

}  // namespace millrace::model
