#include "tools/info/found_hosts.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "base/files.h"
#include "tools/elf.h"
#include "tools/host.h"
#include "tools/parents.h"
#include "tools/program.h"

namespace millrace::tools {
namespace {

class HostList {
 public:
  void add(std::optional<MpiLibrary> library, std::string reason) {
    if (!library) return;
    std::error_code error;
    const std::string real = std::filesystem::canonical(library->path, error);
    if (error || std::find(seen_.begin(), seen_.end(), real) != seen_.end()) return;
    seen_.push_back(real);
    std::string product = product_of(*library);
    hosts_.push_back({std::move(*library), std::move(product), std::move(reason)});
  }
  std::vector<FoundHost> take() { return std::move(hosts_); }

 private:
  std::vector<FoundHost> hosts_;
  std::vector<std::string> seen_;
};

// Several MPIs may share a prefix, as on Debian: there the real name of a wrapper or launcher tells whose it is.
Abi abi_of_tool(std::string_view path) {
  const std::string_view name = base_name(path);
  const auto has = [&](std::string_view part) { return name.find(part) != std::string_view::npos; };
  if (has("_abi")) return Abi::mpi5;
  if (has("openmpi") || has("opal") || has("orte") || has("prte")) return Abi::openmpi;
  if (has("mpich") || has("hydra")) return Abi::mpich;
  return Abi::unknown;
}

void add_tool(HostList& list, std::string_view tool, std::string_view search_path) {
  const Program found = find_program(tool, search_path);
  if (found.error) return;
  std::error_code error;
  const std::string real = std::filesystem::canonical(found.path, error);
  const Abi abi = abi_of_tool(real);
  for (const std::string& path : {found.path, real}) {
    const std::string prefix(directory_name(directory_name(path)));
    if (abi == Abi::unknown && (prefix == "/usr" || prefix == "/")) continue;
    if (auto library = library_below(prefix, abi))
      return list.add(std::move(library), fmt::format("{} in PATH", found.path));
  }
}

bool is_version_part(char letter) { return std::isdigit(static_cast<unsigned char>(letter)) || letter == '.'; }

// The first string of the form 1.2.3 that stands alone and begins so. MPICH's libraries begin their read-only data
// with their own version, those of what is built into them follow.
std::string first_version_string(const std::string& path, std::string_view beginning) {
  std::ifstream file(path, std::ios::binary);
  const std::string bytes{std::istreambuf_iterator<char>(file), {}};
  for (std::size_t end = bytes.find('\0'); end != std::string::npos; end = bytes.find('\0', end + 1)) {
    std::size_t start = end;
    while (start > 0 && is_version_part(bytes[start - 1])) --start;
    std::string text = bytes.substr(start, end - start);
    const bool is_alone = start > 0 && bytes[start - 1] == '\0';
    const bool has_edges = !text.empty() && text.front() != '.' && text.back() != '.';
    const bool has_three_parts = std::count(text.begin(), text.end(), '.') == 2 && text.find("..") == std::string::npos;
    if (is_alone && has_edges && has_three_parts && text.compare(0, beginning.size(), beginning) == 0) return text;
  }
  return {};
}

}  // namespace

std::string product_of(const MpiLibrary& library) {
  const ElfFile& file = *library.file;
  if (is_intel(file)) return "Intel MPI " + first_version_string(library.path, "20");
  const char* maker = library.abi == Abi::mpi5 ? "MPICH" : abi_title(library.abi);
  std::string version;
  for (const char* symbol : {"ompi_version_string", "MPII_Version_string"})
    if (version.empty()) version = file.text_of(symbol);
  if (version.empty()) version = first_version_string(library.path, "");
  if (file.defines("ompi_mpi_comm_world")) maker = "Open MPI";
  return fmt::format("{} {}", maker, version.empty() ? "of unknown version" : version);
}

std::vector<FoundHost> find_hosts(const Environment& environment, const std::optional<std::string>& mpi_option) {
  HostList list;
  Abi wanted = Abi::unknown;
  if (mpi_option) {
    Host told = host_from_option(*mpi_option);
    wanted = told.abi;
    list.add(std::move(told.library), told.reason);
  }
  const EnvironmentHint hint = hint_from_environment(environment);
  if (wanted == Abi::unknown) wanted = hint.abi;
  if (const MpiLauncher launcher = launcher_above(); !launcher.path.empty()) {
    const Abi abi = launcher.abi != Abi::unknown ? launcher.abi : wanted;
    list.add(library_below(std::string(directory_name(directory_name(launcher.path))), abi),
             fmt::format("the launcher {}", launcher.path));
  }
  for (const std::string& prefix : hint.prefixes)
    list.add(library_below(prefix, wanted), fmt::format("the environment, which names {}", prefix));
  for (const std::string& directory : split_text(environment.get("LD_LIBRARY_PATH").value_or(""), ':'))
    if (!directory.empty()) list.add(find_mpi_library(directory, wanted), "LD_LIBRARY_PATH");
  const std::string_view search_path = environment.get("PATH").value_or("/bin:/usr/bin");
  for (const char* tool : {"mpicc", "mpiexec", "mpirun", "mpicc.openmpi", "mpicc.mpich"})
    add_tool(list, tool, search_path);
  return list.take();
}

}  // namespace millrace::tools
