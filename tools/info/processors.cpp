#include "tools/info/processors.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <tuple>

#include "base/files.h"

namespace millrace::tools {
namespace {

std::string model_name(const std::string& root) {
  for (const std::string& line : read_lines(root + "/proc/cpuinfo")) {
    const std::size_t colon = line.find(": ");
    if (colon == std::string::npos) continue;
    if (line.compare(0, 10, "model name") == 0 || line.compare(0, 5, "Model") == 0) return line.substr(colon + 2);
  }
  return {};
}

long long size_bytes(const std::string& text) {  // "32K", "260M"
  if (text.empty()) return 0;
  const long long count = std::atoll(text.c_str());
  if (text.back() == 'K') return count * 1024;
  if (text.back() == 'M') return count * 1024 * 1024;
  return count;
}

}  // namespace

Processors read_processors(const std::string& root) {
  const std::string cpus = root + "/sys/devices/system/cpu";
  const std::vector<int> online = parse_list(read_text(cpus + "/online").value_or(""));
  Processors result;
  result.model = model_name(root);
  result.processing_units = static_cast<int>(online.size());

  std::set<long long> packages;
  std::set<std::string> cores;
  // A cache is what it is together with the processing units that share it.
  std::map<std::tuple<int, std::string, long long, int>, std::set<std::string>> caches;
  for (const int cpu : online) {
    const std::string directory = fmt::format("{}/cpu{}", cpus, cpu);
    // Some Arm kernels say -1 for "not known"; then it is one package.
    packages.insert(std::max(0LL, read_number(directory + "/topology/physical_package_id").value_or(0)));
    cores.insert(read_text(directory + "/topology/thread_siblings_list").value_or(std::to_string(cpu)));
    for (int index = 0;; ++index) {
      const std::string cache = fmt::format("{}/cache/index{}", directory, index);
      const auto level = read_number(cache + "/level");
      if (!level) break;
      const std::string shared = read_text(cache + "/shared_cpu_list").value_or("");
      const auto key =
          std::tuple(static_cast<int>(*level), read_text(cache + "/type").value_or(""),
                     size_bytes(read_text(cache + "/size").value_or("")), static_cast<int>(parse_list(shared).size()));
      caches[key].insert(shared);
    }
  }
  result.packages = static_cast<int>(packages.size());
  result.cores = static_cast<int>(cores.size());
  for (const auto& [key, sharers] : caches) {
    const auto& [level, type, size, shared_by] = key;
    result.caches.push_back({level, type, size, shared_by, static_cast<int>(sharers.size())});
  }
  const std::string nodes = read_text(root + "/sys/devices/system/node/online").value_or("");
  result.numa_nodes = std::max(1, static_cast<int>(parse_list(nodes).size()));  // no such file: not a NUMA kernel
  return result;
}

}  // namespace millrace::tools
