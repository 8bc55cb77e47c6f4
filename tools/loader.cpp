#include "tools/loader.h"

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>

namespace millrace::tools {
namespace {

std::string read_all(int descriptor) {
  std::string text;
  std::array<char, 16384> piece;
  for (;;) {
    const ssize_t count = read(descriptor, piece.data(), piece.size());
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return text;
    text.append(piece.data(), static_cast<std::size_t>(count));
  }
}

}  // namespace

std::vector<NeededLibrary> parse_loader_list(std::string_view text) {
  constexpr std::string_view arrow = " => ";
  std::vector<NeededLibrary> libraries;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    std::string_view line = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    while (!line.empty() && (line.front() == '\t' || line.front() == ' ')) line.remove_prefix(1);
    const std::size_t address = line.rfind(" (0x");  // from the right: a path may hold blanks and parentheses
    const bool is_found = address != std::string_view::npos;
    if (is_found) line = line.substr(0, address);
    const std::size_t middle = line.find(arrow);
    if (middle != std::string_view::npos) {
      const std::string_view path = is_found ? line.substr(middle + arrow.size()) : std::string_view{};
      libraries.push_back({std::string(line.substr(0, middle)), std::string(path)});
    } else if (is_found) {  // asked for by path, or the loader itself
      libraries.push_back({std::string(line), std::string(line)});
    }
  }
  return libraries;
}

std::optional<std::vector<NeededLibrary>> needed_libraries(const std::string& loader, const std::string& program,
                                                           const char* const* environment) {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) return std::nullopt;
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
  // What the loader has to complain about it says again when the program starts.
  posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
  const char* arguments[] = {loader.c_str(), "--list", program.c_str(), nullptr};
  pid_t child = 0;
  const int error = posix_spawn(&child, loader.c_str(), &actions, nullptr, const_cast<char* const*>(arguments),
                                const_cast<char* const*>(environment));
  posix_spawn_file_actions_destroy(&actions);
  close(ends[1]);
  std::optional<std::vector<NeededLibrary>> libraries;
  if (error == 0) {
    libraries = parse_loader_list(read_all(ends[0]));
    while (waitpid(child, nullptr, 0) < 0 && errno == EINTR) {
    }
  }
  close(ends[0]);
  return libraries;
}

}  // namespace millrace::tools
