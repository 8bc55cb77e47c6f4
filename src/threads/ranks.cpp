#include "threads/ranks.h"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <optional>
#include <string_view>

#include "base/files.h"
#include "base/launcher.h"

namespace millrace::threads {
namespace {

namespace fs = std::filesystem;

constexpr int most_levels = 4;  // between a rank and the launcher's process: a shell, a wrapper
constexpr std::size_t most_children = 4096;

std::optional<std::string_view> value_of(const char* const* environment, std::string_view variable) {
  for (; environment && *environment; ++environment) {
    std::string_view entry = *environment;
    if (entry.size() <= variable.size() || entry[variable.size()] != '=' || !entry.starts_with(variable)) continue;
    entry.remove_prefix(variable.size() + 1);
    return entry;
  }
  return std::nullopt;
}

// "/proc/self" where `process` is 0.
std::string directory_of(const std::string& root, int process) {
  return root + "/proc/" + (process ? std::to_string(process) : "self");
}

// A line of /proc/N/status: "PPid:\t123".
std::string status_field(const std::string& root, int process, std::string_view name) {
  for (const std::string& line : read_lines(directory_of(root, process) + "/status")) {
    if (!line.starts_with(name) || line.size() <= name.size() || line[name.size()] != ':') continue;
    const std::size_t value = line.find_first_not_of(" \t", name.size() + 1);
    return value == std::string::npos ? std::string{} : line.substr(value);
  }
  return {};
}

// A process has children by thread: whichever called fork.
std::vector<int> children_of(const std::string& root, int process) {
  std::vector<int> children;
  std::error_code error;
  for (fs::directory_iterator thread(directory_of(root, process) + "/task", error), end; !error && thread != end;
       thread.increment(error))
    for (const std::string& word : split_text(read_text(thread->path().string() + "/children").value_or(""), ' '))
      if (const int child = std::atoi(word.c_str()); child > 0) children.push_back(child);
  return children;
}

bool overlap(const std::vector<int>& left, const std::vector<int>& right) {
  return std::any_of(left.begin(), left.end(),
                     [&](int cpu) { return std::find(right.begin(), right.end(), cpu) != right.end(); });
}

bool may_run_on(const std::string& root, int process, const std::vector<int>& allowed) {
  const std::string mask = status_field(root, process, "Cpus_allowed_list");
  return mask.empty() || overlap(parse_list(mask), allowed);  // a process that is gone counts: be careful
}

// A branch counts by its innermost processes where it has any: a launcher's shell is seldom bound as its rank is.
bool rank_overlaps(const std::string& root, int branch, int depth, const std::vector<int>& allowed) {
  const std::vector<int> children = depth > 0 ? children_of(root, branch) : std::vector<int>{};
  if (children.empty()) return may_run_on(root, branch, allowed);
  return std::any_of(children.begin(), children.end(),
                     [&](int child) { return rank_overlaps(root, child, depth - 1, allowed); });
}

}  // namespace

int local_ranks(const char* const* environment, int processes) {
  if (processes == 1) return 1;
  for (const char* variable : local_size_variables)
    if (const auto value = value_of(environment, variable))
      if (const int ranks = std::atoi(std::string(*value).c_str()); ranks > 0) return ranks;
  if (processes > 1) return 0;
  // No MPI in sight: a process of its own, unless a launcher of ranks started it.
  for (const char* variable : rank_variables)
    if (value_of(environment, variable)) return 0;
  return 1;
}

NodeRanks find_ranks(const char* const* environment, int processes, const std::vector<int>& allowed,
                     const std::string& root) {
  NodeRanks ranks;
  ranks.local = local_ranks(environment, processes);
  if (ranks.local <= 1) {
    ranks.sharing = ranks.local;
    return ranks;
  }
  int process = 0;
  for (int level = 0; level < most_levels; ++level) {
    process = std::atoi(status_field(root, process, "PPid").c_str());
    if (process <= 0) return ranks;
    const std::vector<int> branches = children_of(root, process);
    if (branches.size() < static_cast<std::size_t>(ranks.local)) continue;
    if (branches.size() > most_children) return ranks;
    // At least 1: our own branch.
    ranks.sharing = std::max(1, static_cast<int>(std::count_if(branches.begin(), branches.end(), [&](int branch) {
                               return rank_overlaps(root, branch, level, allowed);
                             })));
    return ranks;
  }
  return ranks;
}

}  // namespace millrace::threads
