#include "tools/program.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>

namespace millrace::tools {
namespace {

constexpr int deepest_script = 5;  // Linux gives up there, too

// 0 if execve would take the file, else the errno it would give.
int execution_error(const std::string& path) {
  struct stat status;
  if (stat(path.c_str(), &status) != 0) return errno;
  if (S_ISDIR(status.st_mode)) return EISDIR;
  if (!S_ISREG(status.st_mode)) return EACCES;
  return faccessat(AT_FDCWD, path.c_str(), X_OK, AT_EACCESS) == 0 ? 0 : errno;
}

std::string first_bytes(const std::string& path) {
  std::array<char, 256> bytes;  // as much as Linux reads of a "#!" line
  const int descriptor = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (descriptor < 0) return {};
  const ssize_t count = read(descriptor, bytes.data(), bytes.size());
  close(descriptor);
  return std::string(bytes.data(), count > 0 ? static_cast<std::size_t>(count) : 0);
}

}  // namespace

std::string_view base_name(std::string_view path) { return path.substr(path.find_last_of('/') + 1); }

std::string_view directory_name(std::string_view path) {
  const std::size_t slash = path.find_last_of('/');
  if (slash == std::string_view::npos) return ".";
  return slash == 0 ? "/" : path.substr(0, slash);
}

Program find_program(std::string_view name, std::string_view search_path) {
  if (name.empty()) return {{}, ENOENT};
  if (name.find('/') != std::string_view::npos) {
    std::string path(name);
    const int error = execution_error(path);
    return error ? Program{{}, error} : Program{std::move(path), 0};
  }
  int error = ENOENT;
  for (std::size_t start = 0; start <= search_path.size();) {
    const std::size_t end = std::min(search_path.find(':', start), search_path.size());
    const std::string_view directory = search_path.substr(start, end - start);
    std::string path = directory.empty() ? std::string(name) : std::string(directory) + '/' + std::string(name);
    const int found = execution_error(path);
    if (found == 0) return {std::move(path), 0};
    if (found == EACCES || found == EISDIR) error = EACCES;  // execvp goes on looking, and remembers
    start = end + 1;
  }
  return {{}, error};
}

std::vector<std::string> script_interpreter(const std::string& path) {
  const std::string start = first_bytes(path);
  if (start.compare(0, 2, "#!") != 0) return {};
  std::string_view line = std::string_view(start).substr(2);
  line = line.substr(0, line.find('\n'));
  constexpr std::string_view blanks = " \t\r";
  const auto trim = [&](std::string_view text) {
    const std::size_t first = text.find_first_not_of(blanks);
    if (first == std::string_view::npos) return std::string_view{};
    return text.substr(first, text.find_last_not_of(blanks) - first + 1);
  };
  line = trim(line);
  if (line.empty()) return {};
  const std::size_t end = std::min(line.find_first_of(blanks), line.size());
  std::vector<std::string> words{std::string(line.substr(0, end))};
  if (const std::string_view argument = trim(line.substr(end)); !argument.empty()) words.emplace_back(argument);
  return words;
}

Program find_binary(const std::string& path, std::string_view search_path) {
  std::string current = path;
  for (int depth = 0; depth < deepest_script; ++depth) {
    const std::vector<std::string> words = script_interpreter(current);
    if (words.empty()) break;
    Program interpreter = find_program(words[0], search_path);
    if (interpreter.error) return interpreter;
    if (base_name(words[0]) == "env" && words.size() == 2) {
      // "env -S" splits its argument; the command is the first word that is neither an option nor an assignment.
      std::string_view rest = words[1];
      while (!rest.empty()) {
        const std::size_t end = std::min(rest.find(' '), rest.size());
        const std::string_view word = rest.substr(0, end);
        rest.remove_prefix(std::min(end + 1, rest.size()));
        if (word.empty() || word[0] == '-' || word.find('=') != std::string_view::npos) continue;
        if (Program command = find_program(word, search_path); !command.error) interpreter = std::move(command);
        break;
      }
    }
    current = std::move(interpreter.path);
  }
  const std::string start = first_bytes(current);
  const bool is_text = !start.empty() && start.compare(0, 4, "\177ELF") != 0 && start.find('\0') == std::string::npos;
  if (is_text && start.compare(0, 2, "#!") != 0) return find_program("/bin/sh", search_path);
  return {std::move(current), 0};
}

}  // namespace millrace::tools
