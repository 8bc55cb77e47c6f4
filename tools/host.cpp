#include "tools/host.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "tools/direct_library.h"
#include "tools/loader.h"
#include "tools/parents.h"
#include "tools/program.h"
#include "tools/python_host.h"

namespace millrace::tools {

std::optional<MpiLibrary> library_below(const std::string& prefix, Abi wanted) {
  // Debian's multi-arch directory, Intel MPI's release directory, Debian's Open MPI.
  for (const char* directory :
       {"/lib", "/lib64", "/lib/" MILLRACE_MULTIARCH, "/lib/release", "/lib/" MILLRACE_MULTIARCH "/openmpi/lib"})
    if (auto library = find_mpi_library(prefix + directory, wanted)) return library;
  return std::nullopt;
}

namespace {

bool is_wide_fortran(std::string_view name) { return base_name(name).starts_with("libmpi_ilp64"); }

Host host_of_library(std::string_view name, MpiLibrary library) {
  Host host{library.abi, std::nullopt, fmt::format("it needs {}, found as {}", name, library.path)};
  if (host.abi == Abi::unknown)
    host.reason = fmt::format(
        "its MPI library {} is none that Millrace knows; --mpi openmpi, mpich or abi can say what it is like",
        library.path);
  host.library = std::move(library);
  return host;
}

// The library that the program itself asks for. Intel's may come with one for INTEGERs of 8 bytes, needed by the
// program or by something further down, found wherever: the loader knows.
std::optional<Host> host_needed_directly(const ElfFile& file, const std::string& program,
                                         const Environment& environment) {
  if (std::ranges::any_of(file.needed(), is_wide_fortran)) return std::nullopt;
  for (const std::string_view name : file.needed()) {
    if (!may_be_mpi_library(name)) continue;
    const std::string path = direct_library(file, program, name, environment);
    if (path.empty()) return std::nullopt;
    auto library = read_mpi_library(path);
    if (!library) continue;
    if (is_intel(*library->file)) return std::nullopt;
    return host_of_library(name, *std::move(library));
  }
  return std::nullopt;
}

}  // namespace

std::optional<Host> host_of_program(const ElfFile& file, const std::string& program, const Environment& environment) {
  if (auto host = host_needed_directly(file, program, environment)) return host;
  const auto needed = needed_libraries(std::string(file.loader()), program, environment.entries());
  if (!needed) return std::nullopt;
  for (const NeededLibrary& candidate : *needed) {
    if (!may_be_mpi_library(candidate.name)) continue;
    auto library = read_mpi_library(candidate.path);
    if (!library) continue;
    Host host = host_of_library(candidate.name, *std::move(library));
    if (std::ranges::any_of(*needed, is_wide_fortran, &NeededLibrary::name)) {
      host.abi = Abi::unknown;
      host.reason = "it needs libmpi_ilp64: INTEGERs of 8 bytes are not supported";
    }
    return host;
  }
  return std::nullopt;
}

Host host_from_surroundings(const std::string& program, const Environment& environment) {
  const EnvironmentHint hint = hint_from_environment(environment);
  Host host{hint.abi, std::nullopt, hint.reason};
  const bool is_python = base_name(program).substr(0, 6) == "python";
  if (is_python)
    if (auto told = host_from_mpi4py(environment)) {
      host = std::move(*told);
      if (host.library) return host;
    }

  const MpiLauncher launcher = launcher_above();
  if (host.abi == Abi::unknown && launcher.abi != Abi::unknown) {
    host.abi = launcher.abi;
    host.reason = fmt::format("started by {}", launcher.path);
  }

  // The file is wanted as well: it tells which generation of the interface it is.
  std::vector<std::string> prefixes;
  if (is_python) prefixes.push_back(python_prefix(program));  // where the wheels of mpi4py look first
  prefixes.insert(prefixes.end(), hint.prefixes.begin(), hint.prefixes.end());
  if (!launcher.path.empty()) prefixes.emplace_back(directory_name(directory_name(launcher.path)));
  for (const std::string& prefix : prefixes) {
    // The system's directory may hold several: without a word for the interface it would be a guess.
    if (host.abi == Abi::unknown && prefix == "/usr") continue;
    host.library = library_below(prefix, host.abi);
    if (!host.library) continue;
    if (host.abi == Abi::unknown) {
      host.abi = host.library->abi;
      host.reason = fmt::format("found {}", host.library->path);
    }
    break;
  }
  return host;
}

Host host_from_option(const std::string& option) {
  if (const auto abi = abi_from_word(option)) return {*abi, std::nullopt, "--mpi " + option};
  auto library = read_mpi_library(option);
  if (!library)
    return {Abi::unknown, std::nullopt,
            fmt::format("--mpi {}: no MPI library, and none of openmpi, mpich, abi", option)};
  const Abi abi = library->abi;
  if (abi == Abi::unknown)
    return {abi, std::move(library), fmt::format("--mpi {}: an MPI library that Millrace does not know", option)};
  return {abi, std::move(library), "--mpi " + option};
}

}  // namespace millrace::tools
