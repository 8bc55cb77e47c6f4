// millrace: runs an unmodified MPI program with Millrace in front of its MPI library (docs/launcher.md).
#include <unistd.h>

#include <optional>

#include "base/log.h"
#include "base/settings.h"
#include "tools/executables.h"
#include "tools/plain_launch.h"

int main(int, char** arguments) {
  using namespace millrace;
  using namespace millrace::tools;
  if (const std::optional<Request> request = arguments[0] ? plain_launch(arguments) : std::nullopt) {
    set_log_level(read_settings(environ).log);
    return launch_program(*request, Environment(environ), own_path());
  }
  return become_tools(own_path(), arguments);
}
