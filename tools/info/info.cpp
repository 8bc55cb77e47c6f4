#include "tools/info/info.h"

#include <sys/utsname.h>

#include <algorithm>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <string>

#include "base/affinity.h"
#include "base/log.h"
#include "base/quota.h"
#include "base/settings.h"
#include "threads/facts.h"
#include "tools/command_app.h"
#include "tools/host.h"
#include "tools/info/found_hosts.h"
#include "tools/info/info_text.h"
#include "tools/info/isa_report.h"
#include "tools/info/processors.h"
#include "tools/info/types.h"
#include "tools/variant.h"

namespace millrace::tools {
namespace {

using nlohmann::ordered_json;

ordered_json machine_json() {
  const Processors processors = read_processors();
  utsname system;
  uname(&system);
  ordered_json caches = ordered_json::array();
  for (const Cache& cache : processors.caches)
    caches.push_back({{"level", cache.level},
                      {"type", cache.type},
                      {"size_bytes", cache.size_bytes},
                      {"shared_by", cache.shared_by},
                      {"count", cache.count}});
  const CpuQuota quota = read_cpu_quota();
  return {{"architecture", system.machine},
          {"model", processors.model},
          {"packages", processors.packages},
          {"cores", processors.cores},
          {"processing_units", processors.processing_units},
          {"numa_nodes", processors.numa_nodes},
          {"caches", caches},
          {"affinity", allowed_processors()},
          {"cgroup_version", quota.cgroup_version},
          {"quota_cpus", quota.cpus ? ordered_json(*quota.cpus) : ordered_json()},
          {"quota_file", quota.file}};
}

ordered_json hosts_json(const Environment& environment, const std::optional<std::string>& mpi,
                        const std::string& preloads) {
  ordered_json result = ordered_json::array();
  for (const FoundHost& host : find_hosts(environment, mpi)) {
    const std::vector<ExportList> lists = read_export_lists(preloads, host.library.abi);
    const ElfFile& file = *host.library.file;
    const ExportList* list =
        choose_export_list(lists, host.library.abi, [&](std::string_view name) { return file.defines(name); });
    result.push_back({{"library", host.library.path},
                      {"abi", abi_word(host.library.abi)},
                      {"product", host.product},
                      {"found_by", host.reason},
                      {"entries", mpi_entries(file.exports()).size()},
                      {"preload", list ? ordered_json(list->path) : ordered_json()}});
  }
  return result;
}

ordered_json settings_json(const Environment& environment) {
  ordered_json result = ordered_json::array();
  for (const Setting& setting : settings())
    result.push_back({{"variable", setting.variable},
                      {"value", setting_text(setting, environment.entries())},
                      {"default", setting.standard},
                      {"values", setting.values},
                      {"doc", setting.doc}});
  return result;
}

// What a large reduction would use in a program that is started as this command was. One without MPI variables in its
// environment counts as alone.
ordered_json threads_json(const SettingValues& values) {
  threads::Request request;
  request.threads = values.threads;
  const threads::Facts facts = threads::gather_facts(request);
  const threads::TeamDecision decision = threads::decide(request, facts);
  return {{"threads", decision.threads}, {"why", decision.why}, {"least_bytes", values.threads_bytes}};
}

}  // namespace

int run_info(const Request& request, const Environment& environment, const std::string& command) {
  CommandApp app("Shows what this machine, its MPI and the settings look like to Millrace.", "millrace info");
  bool is_json = false, with_types = false;
  std::string mpi;
  app.add_flag("--json", is_json, "as JSON, for programs");
  app.add_flag("--types", with_types, "the kernel of every op on every type, and why some have none");
  auto* mpi_option = app.add_option("--mpi", mpi, "show this MPI")->type_name("openmpi|mpich|abi|LIBRARY");
  int count = 0;
  while (request.program[count]) ++count;
  try {
    app.parse(count, request.program);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) ? usage_error : 0;
  }
  const std::optional<std::string> told = mpi_option->count() ? std::optional(mpi) : request.mpi;
  if (const Host host = told ? host_from_option(*told) : Host{}; told && host.abi == Abi::unknown && !host.library) {
    log(LogLevel::error, "info: " + host.reason);
    return usage_error;
  }
  const SettingValues values = read_settings(environment.entries());
  const std::string preloads = preload_directory(command);
  const IsaReport isa = report_isa(values.isa);
  ordered_json info = {{"version", MILLRACE_VERSION},
                       {"command", command},
                       {"preloads", preloads},
                       {"machine", machine_json()},
                       {"isa", isa.json},
                       {"threads", threads_json(values)},
                       {"hosts", hosts_json(environment, told, preloads)},
                       {"settings", settings_json(environment)},
                       {"complaints", values.complaints}};
  if (with_types) info["types"] = report_types(*kernel::choose_isa(values.isa).unit);
  if (!isa.complaint.empty()) info["complaints"].push_back(isa.complaint);
  const std::string text = is_json ? info.dump(2) + '\n' : with_types ? types_text(info["types"]) : info_text(info);
  std::fputs(text.c_str(), stdout);
  return 0;
}

}  // namespace millrace::tools
