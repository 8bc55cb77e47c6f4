#include "tools/executables.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "base/log.h"
#include "base/settings.h"
#include "tools/environment.h"
#include "tools/launch.h"
#include "tools/plain_launch.h"
#include "tools/program.h"
#include "tools/variant.h"

namespace millrace::tools {

std::string own_path() {
  char path[4096];
  const ssize_t length = readlink("/proc/self/exe", path, sizeof path);
  if (length <= 0) return {};
  std::string own(path, static_cast<std::size_t>(length));
  if (base_name(own) != tools_name) return own;
  return launcher_beside(std::string(directory_name(own))).value_or(own);
}

int become_tools(const std::string& command, char** arguments) {
  const std::string directory = preload_directory(command), path = directory + '/' + tools_name;
  if (!directory.empty()) execv(path.c_str(), arguments);
  const int error = directory.empty() ? ENOENT : errno;
  const std::string why = fmt::format("{} cannot be run: {}; install Millrace anew, all of it",
                                      directory.empty() ? tools_name : path, std::strerror(error));
  char** const program = program_behind_options(arguments);
  const Environment environment(environ);
  set_log_level(read_settings(environ).log);
  if (!program) {
    say_once(environment, LogLevel::error, why);
    return exit_code_of(error);
  }
  say_once(environment, LogLevel::warning, fmt::format("{} runs without Millrace: {}", *program, why));
  execvp(*program, program);
  const int program_error = errno;
  log(LogLevel::error, fmt::format("{}: {}", *program, std::strerror(program_error)));
  return exit_code_of(program_error);
}

}  // namespace millrace::tools
