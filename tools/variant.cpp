#include "tools/variant.h"

#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <functional>

#include "tools/export_lists.h"
#include "tools/program.h"

namespace millrace::tools {
namespace {

constexpr std::string_view preload_start = "libmillrace-";

std::string base_list_name(Abi abi) { return std::string(preload_start) + abi_word(abi) + ".so"; }

}  // namespace

std::vector<ExportList> read_export_lists(const std::string& directory, Abi abi) {
  std::vector<ExportList> lists;
  for (const KnownList& known : known_lists()) {
    if (known.abi != abi_word(abi)) continue;
    std::string path = directory + '/' + std::string(preload_start) + std::string(known.name) + ".so";
    if (access(path.c_str(), R_OK) == 0) lists.push_back({std::move(path), known.entries});
  }
  return lists;
}

std::string_view missing_entry(const ExportList& list, const Defines& host) {
  for (const std::string_view entry : list.entries)
    if (!host(entry)) return entry;
  return {};
}

const ExportList* choose_export_list(std::span<const ExportList> lists, Abi abi, const Defines& host) {
  // From the fullest on, the base list last: one that fits ends the search.
  std::vector<const ExportList*> by_entries;
  for (const ExportList& list : lists) by_entries.push_back(&list);
  std::ranges::stable_sort(by_entries, std::ranges::greater(),
                           [](const ExportList* list) { return list->entries.size(); });
  const auto fits = [&](const ExportList* list) {
    return host ? missing_entry(*list, host).empty() : base_name(list->path) == base_list_name(abi);
  };
  const auto found = std::ranges::find_if(by_entries, fits);
  return found == by_entries.end() ? nullptr : *found;
}

std::string preload_directory(const std::string& command) {
  const std::string bin(directory_name(command));
  // The build tree; an installation, wherever it was moved to; where this one was meant to be.
  const std::string candidates[] = {bin + "/lib/millrace", bin + "/" MILLRACE_PRELOAD_FROM_BIN,
                                    bin + "/../lib/millrace", bin + "/../lib64/millrace", MILLRACE_PRELOAD_INSTALLED};
  for (const std::string& candidate : candidates) {
    std::error_code error;
    if (!std::filesystem::is_directory(candidate, error)) continue;
    const auto plain = std::filesystem::canonical(candidate, error);
    if (!error) return plain;
  }
  return {};
}

std::optional<std::string> launcher_beside(const std::string& directory) {
  for (const std::string& bin : {directory + "/../..", directory + "/" MILLRACE_BIN_FROM_PRELOAD,
                                 directory + "/../../bin", std::string(MILLRACE_BIN_INSTALLED)}) {
    std::error_code error;
    std::string path = std::filesystem::canonical(bin + "/millrace", error);
    if (!error && std::filesystem::is_regular_file(path, error) && preload_directory(path) == directory) return path;
  }
  return std::nullopt;
}

std::string with_preload(std::string_view ld_preload, const std::string& preload) {
  std::string result = preload;
  while (!ld_preload.empty()) {
    const std::size_t end = std::min(ld_preload.find_first_of(" :"), ld_preload.size());  // ld.so takes both
    const std::string_view entry = ld_preload.substr(0, end);
    ld_preload.remove_prefix(std::min(end + 1, ld_preload.size()));
    if (entry.empty() || base_name(entry).substr(0, preload_start.size()) == preload_start) continue;
    result += ':';
    result += entry;
  }
  return result;
}

}  // namespace millrace::tools
