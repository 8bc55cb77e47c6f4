#include "tools/parents.h"

#include <fmt/format.h>
#include <unistd.h>

#include <array>
#include <cstdio>
#include <memory>

#include "tools/program.h"

namespace millrace::tools {
namespace {

constexpr int most_generations = 8;

struct LauncherName {
  std::string_view name;
  Abi abi;
};
constexpr LauncherName mpi_launchers[] = {
    {"orterun", Abi::openmpi},
    {"orted", Abi::openmpi},
    {"prterun", Abi::openmpi},
    {"prted", Abi::openmpi},
    {"prte", Abi::openmpi},
    {"hydra_pmi_proxy", Abi::mpich},
    {"hydra_bstrap_proxy", Abi::mpich},
    {"mpiexec.hydra", Abi::mpich},
    {"mpirun", Abi::unknown},
    {"mpiexec", Abi::unknown},
};
// Below a batch system's agent (slurmstepd, ...) every MPI may run, so these tell nothing.
constexpr std::string_view batch_launchers[] = {"srun", "aprun", "jsrun", "prun", "flux"};

bool is_named(std::string_view name, std::string_view launcher) {
  // Also mpirun.openmpi, mpiexec.hydra, mpiexec.mpich.
  return name.substr(0, launcher.size()) == launcher &&
         (name.size() == launcher.size() || name[launcher.size()] == '.');
}

pid_t parent_of(pid_t process) {
  const std::unique_ptr<FILE, int (*)(FILE*)> file(std::fopen(fmt::format("/proc/{}/stat", process).c_str(), "re"),
                                                   std::fclose);
  std::array<char, 512> text;
  if (!file) return 0;
  const std::size_t count = std::fread(text.data(), 1, text.size() - 1, file.get());
  const std::string_view line(text.data(), count);
  const std::size_t name_end = line.rfind(')');  // the name may hold blanks and parentheses itself
  pid_t parent = 0;
  text[count] = 0;
  if (name_end == std::string_view::npos || std::sscanf(text.data() + name_end + 1, " %*c %d", &parent) != 1) return 0;
  return parent;
}

}  // namespace

bool is_mpi_launcher(std::string_view program) {
  const std::string_view name = base_name(program);
  for (const LauncherName& launcher : mpi_launchers)
    if (is_named(name, launcher.name)) return true;
  for (const std::string_view launcher : batch_launchers)
    if (is_named(name, launcher)) return true;
  return false;
}

MpiLauncher launcher_above() {
  pid_t process = getppid();
  for (int generation = 0; process > 1 && generation < most_generations; ++generation, process = parent_of(process)) {
    std::array<char, 4096> path;
    const ssize_t length = readlink(fmt::format("/proc/{}/exe", process).c_str(), path.data(), path.size());
    if (length <= 0) continue;  // another user's
    const std::string_view program(path.data(), static_cast<std::size_t>(length));
    for (const LauncherName& launcher : mpi_launchers)
      if (is_named(base_name(program), launcher.name)) return {std::string(program), launcher.abi};
  }
  return {};
}

}  // namespace millrace::tools
