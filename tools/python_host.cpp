#include "tools/python_host.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>

#include "tools/program.h"

namespace millrace::tools {

std::optional<Host> host_from_mpi4py(const Environment& environment) {
  std::optional<Host> host;
  if (const auto word = environment.get("MPI4PY_MPIABI")) {
    std::string plain;  // mpi4py ignores case, blanks, '-' and '_'
    for (const char letter : *word)
      if (letter != ' ' && letter != '-' && letter != '_')
        plain += static_cast<char>(std::tolower(static_cast<unsigned char>(letter)));
    const Abi abi = plain == "openmpi"                    ? Abi::openmpi
                    : plain == "mpich" || plain == "impi" ? Abi::mpich
                    : plain == "mpiabi"                   ? Abi::mpi5
                                                          : Abi::unknown;
    if (abi != Abi::unknown) host = Host{abi, std::nullopt, fmt::format("MPI4PY_MPIABI={}", *word)};
  }
  if (const auto paths = environment.get("MPI4PY_LIBMPI")) {
    std::string_view rest = *paths;
    while (!rest.empty()) {
      const std::size_t end = std::min(rest.find(':'), rest.size());
      const std::string path(rest.substr(0, end));
      rest.remove_prefix(std::min(end + 1, rest.size()));
      auto library = read_mpi_library(path);
      if (!library) library = find_mpi_library(path, host ? host->abi : Abi::unknown);  // mpi4py takes directories, too
      if (!library || library->abi == Abi::unknown || (host && host->abi != library->abi)) continue;
      const Abi abi = library->abi;
      return Host{abi, std::move(library), fmt::format("MPI4PY_LIBMPI={}", *paths)};
    }
  }
  return host;
}

std::string python_prefix(const std::string& program) {
  // Not resolved: the interpreter of a virtual environment is a link out of it.
  return std::string(directory_name(directory_name(program)));
}

}  // namespace millrace::tools
