#include "tools/info/info_text.h"

#include <fmt/format.h>

#include "base/files.h"

namespace millrace::tools {
namespace {

using nlohmann::ordered_json;

std::string text_of(const ordered_json& value) { return value.get<std::string>(); }

std::string size_text(long long bytes) {
  if (bytes >= 1 << 20 && bytes % (1 << 20) == 0) return fmt::format("{} MiB", bytes >> 20);
  return fmt::format("{} KiB", bytes >> 10);
}

std::string machine_text(const ordered_json& machine) {
  std::string text = fmt::format("CPU        {} ({})\n", text_of(machine["model"]), text_of(machine["architecture"]));
  text += fmt::format("cores      {} in {} package(s), {} processing units, {} NUMA node(s)\n",
                      machine["cores"].get<int>(), machine["packages"].get<int>(),
                      machine["processing_units"].get<int>(), machine["numa_nodes"].get<int>());
  for (const ordered_json& cache : machine["caches"])
    text += fmt::format("           {} x {} L{} {}, shared by {}\n", cache["count"].get<int>(),
                        size_text(cache["size_bytes"].get<long long>()), cache["level"].get<int>(),
                        text_of(cache["type"]), cache["shared_by"].get<int>());
  const auto affinity = machine["affinity"].get<std::vector<int>>();
  text += fmt::format("affinity   may run on {} of them: {}\n", affinity.size(), format_list(affinity));
  if (machine["quota_cpus"].is_null()) {
    text += fmt::format("quota      none ({})\n", machine["cgroup_version"].get<int>()
                                                      ? fmt::format("cgroup v{}", machine["cgroup_version"].get<int>())
                                                      : "no control groups");
  } else {
    text += fmt::format("quota      {:.2f} processors (cgroup v{}, {})\n", machine["quota_cpus"].get<double>(),
                        machine["cgroup_version"].get<int>(), text_of(machine["quota_file"]));
  }
  return text;
}

std::string isa_text(const ordered_json& isa) {
  std::string text = fmt::format("ISA        {}: {}\n", text_of(isa["chosen"]), text_of(isa["why"]));
  for (const ordered_json& unit : isa["units"]) {
    const bool is_usable = unit["usable"].get<bool>();
    text += fmt::format("           {:8} {:4} bits  {}\n", text_of(unit["name"]), unit["vector_bits"].get<unsigned>(),
                        is_usable ? "usable" : "not usable: " + text_of(unit["why"]));
  }
  return text;
}

std::string hosts_text(const ordered_json& hosts) {
  if (hosts.empty()) return "host MPI   none found; --mpi LIBRARY shows one\n";
  std::string text;
  for (const ordered_json& host : hosts) {
    text += fmt::format("host MPI   {}: {}\n", text_of(host["product"]), text_of(host["library"]));
    text += fmt::format("           found by {}; it has {} MPI entries\n", text_of(host["found_by"]),
                        host["entries"].get<std::size_t>());
    text +=
        fmt::format("           its preload: {}\n", host["preload"].is_null() ? "none fits" : text_of(host["preload"]));
  }
  return text;
}

}  // namespace

std::string info_text(const ordered_json& info) {
  std::string text = fmt::format("millrace   {}, {}\n", text_of(info["version"]), text_of(info["command"]));
  const std::string preloads = text_of(info["preloads"]);
  text += fmt::format("preloads   {}\n",
                      preloads.empty() ? "none found next to the command: the installation is not complete" : preloads);
  const ordered_json& threads = info["threads"];
  text += machine_text(info["machine"]) + isa_text(info["isa"]);
  text += fmt::format("threads    {} for a reduction of {} and more: {}\n", threads["threads"].get<unsigned>(),
                      size_text(threads["least_bytes"].get<long long>()), text_of(threads["why"]));
  text += hosts_text(info["hosts"]);
  text += "settings\n";
  for (const ordered_json& setting : info["settings"]) {
    const std::string standard = text_of(setting["default"]);
    text +=
        fmt::format("  {}={}\n      {} (default: {}; {})\n", text_of(setting["variable"]), text_of(setting["value"]),
                    text_of(setting["doc"]), standard.empty() ? "nothing" : standard, text_of(setting["values"]));
  }
  for (const ordered_json& complaint : info["complaints"]) text += fmt::format("! {}\n", text_of(complaint));
  return text;
}

}  // namespace millrace::tools
