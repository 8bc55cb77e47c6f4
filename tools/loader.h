// Asks a program's own dynamic loader which libraries it would load. The program itself is never run.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace millrace::tools {

struct NeededLibrary {
  std::string name;  // as it was asked for: "libmpi.so.40"
  std::string path;  // where the loader finds it; empty if it does not
};

// Nothing if the loader could not be run. `environment` is what the program would get: LD_LIBRARY_PATH counts.
std::optional<std::vector<NeededLibrary>> needed_libraries(const std::string& loader, const std::string& program,
                                                           const char* const* environment);

// The answer of `ld.so --list` (glibc, musl), taken apart.
std::vector<NeededLibrary> parse_loader_list(std::string_view text);

}  // namespace millrace::tools
