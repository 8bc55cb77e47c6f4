#include "shim/process/introduce.h"

#include <dlfcn.h>
#include <fmt/format.h>

#include <cstring>
#include <sstream>

#include "base/log.h"
#include "kernel/isa.h"
#include "shim/host/library_version.h"
#include "shim/host/tuning.h"

namespace millrace::shim {

std::string preload_name() {
  Dl_info self;
  if (!dladdr(reinterpret_cast<const void*>(&preload_name), &self) || !self.dli_fname) return {};
  std::string name = self.dli_fname;
  name.erase(0, name.rfind('/') + 1);
  if (name.starts_with("libmillrace-")) name.erase(0, std::strlen("libmillrace-"));
  if (name.ends_with(".so")) name.erase(name.size() - 3);
  return name;
}

namespace {

// "Open MPI v4.1.4", "MPICH 4.0.2": the first words of all that it says.
std::string host_name() {
  const std::string text = library_version();
  std::istringstream words(text.substr(0, text.find_first_of(",\n")));
  std::string name;
  for (std::string word; words >> word;)
    if (word != "Version:") name += (name.empty() ? "" : " ") + word;
  return name;
}

}  // namespace

void introduce(const SettingValues& settings, int world_ranks) {
  if (log_level() < LogLevel::info) return;
  const kernel::ActiveKernels& kernels = kernel::active_kernels();
  const std::string narrower = kernels.narrower ? fmt::format(" and {}", kernels.narrower->isa) : "";
  const std::string table = tuning().in_force ? fmt::format("table {}", tuning().path) : "no tuning table";
  const std::string off = settings.collectives == When::never ? ", MILLRACE_COLLECTIVES=never" : "";
  log(LogLevel::info,
      fmt::format("preload {} in front of {}, {} rank{}, kernels {}{}, {}{}", preload_name(), host_name(), world_ranks,
                  world_ranks == 1 ? "" : "s", kernels.unit->name, narrower, table, off));
}

}  // namespace millrace::shim
