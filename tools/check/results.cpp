#include "tools/check/results.h"

#include <fmt/format.h>

#include <cstdio>
#include <fstream>

namespace millrace::tools::check {
namespace {

struct Fault {
  const char* verdict;
  const char* text;
};
constexpr Fault faults[] = {
    {"slipped", "slipped past: the host was called, Millrace did not see it"},
    {"untried", "not tried: the host has it, but its call does not compile"},
    {"foreign", "in the preload, though the host has no such entry"},
};

}  // namespace

const std::set<std::string>& Results::with(const std::string& verdict) const {
  static const std::set<std::string> none;
  const auto found = entries.find(verdict);
  return found == entries.end() ? none : found->second;
}

Results read_results(const std::filesystem::path& path) {
  Results results;
  std::ifstream file(path);
  for (std::string verdict, value; file >> verdict && std::getline(file >> std::ws, value);) {
    if (verdict == "host")
      results.host = value;
    else if (verdict == "preload")
      results.preload = value;
    else if (verdict == "end")
      results.complete = true;
    else
      results.entries[verdict].insert(value);
  }
  return results;
}

bool print_results(const std::string& title, const Results& results, const std::set<std::string>& excused,
                   bool verbose) {
  const std::size_t seen = results.with("seen").size(), slipped = results.with("slipped").size();
  std::string line = fmt::format("{}: {} entries, {} slipped past", title, seen + slipped, slipped);
  if (const std::size_t absent = results.with("absent").size(); absent != 0)
    line += fmt::format(" ({} of the table are not in this host)", absent);
  std::puts(line.c_str());
  bool is_well = seen != 0;
  for (const auto& [verdict, text] : faults) {
    for (const std::string& entry : results.with(verdict)) {
      const bool is_excused = std::string(verdict) == "untried" && excused.contains(entry);
      if (!is_excused || verbose) std::puts(fmt::format("  {} {}", entry, text).c_str());
      is_well = is_well && is_excused;
    }
  }
  if (verbose)
    for (const std::string& entry : results.with("absent"))
      std::puts(fmt::format("  {} is not in this host", entry).c_str());
  return is_well;
}

}  // namespace millrace::tools::check
