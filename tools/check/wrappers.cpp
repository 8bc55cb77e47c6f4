#include "tools/check/wrappers.h"

#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <string_view>

namespace millrace::tools::check {
namespace {

namespace fs = std::filesystem;

bool can_run(const fs::path& path) {
  std::error_code error;
  return fs::is_regular_file(path, error) && access(path.c_str(), X_OK) == 0;
}

}  // namespace

std::optional<std::string> find_command(const std::string& name) {
  if (name.find('/') != std::string::npos)
    return can_run(name) ? std::optional(fs::absolute(name).string()) : std::nullopt;
  const char* path = std::getenv("PATH");
  std::string_view rest = path ? path : "/usr/bin:/bin";
  while (true) {
    const std::size_t colon = rest.find(':');
    const fs::path candidate = fs::path(rest.substr(0, colon)) / name;
    if (can_run(candidate)) return candidate.string();
    if (colon == std::string_view::npos) return std::nullopt;
    rest.remove_prefix(colon + 1);
  }
}

std::optional<std::string> fortran_beside(const std::string& mpicc) {
  const fs::path path(mpicc);
  std::string suffix = path.filename().string();
  for (const std::string_view start : {"mpicc", "mpigcc", "mpiicx", "mpiicc"})
    if (suffix.starts_with(start)) suffix.erase(0, start.size());
  for (const std::string_view start : {"mpif90", "mpifort"}) {
    const fs::path candidate = path.parent_path() / (std::string(start) + suffix);
    if (can_run(candidate)) return candidate.string();
  }
  return std::nullopt;
}

std::optional<std::string> python_beside(const std::string& mpicc) {
  const fs::path candidate = fs::path(mpicc).parent_path() / "python3";
  return can_run(candidate) ? std::optional(candidate.string()) : find_command("python3");
}

}  // namespace millrace::tools::check
