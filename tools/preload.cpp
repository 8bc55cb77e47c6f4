#include "tools/preload.h"

#include <cstdio>
#include <vector>

#include "base/log.h"
#include "base/settings.h"
#include "tools/command_app.h"
#include "tools/command_line.h"
#include "tools/launch.h"

namespace millrace::tools {

int preload_command(char** arguments, const Environment& environment, const std::string& command,
                    std::optional<std::string> mpi) {
  int count = 0;
  while (arguments[count]) ++count;
  std::vector<std::string> words;
  CommandApp app("Prints the path of the preload that fits a program, for those who set LD_PRELOAD themselves.",
                 "millrace preload");
  app.footer(
      "  LD_PRELOAD=$(millrace preload ./app) ./app\n"
      "  millrace preload --mpi mpich python3       where the program does not tell which MPI it loads");
  app.add_option("--mpi", mpi, "the MPI that PROGRAM loads, when it cannot be seen")
      ->type_name("openmpi|mpich|abi|LIBRARY");
  app.prefix_command();  // what follows the program is the program's
  try {
    app.parse(count, arguments);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? 0 : usage_error;
  }
  words = app.remaining();
  if (!words.empty() && words.front() == "--")
    words.erase(words.begin());
  else if (!words.empty() && words.front().starts_with('-')) {
    log(LogLevel::error, "preload: " + words.front() + ": no such option: millrace preload --help");
    return usage_error;
  }
  if (words.empty()) {
    log(LogLevel::error, "preload: no program given: millrace preload ./app");
    return usage_error;
  }
  std::vector<char*> program;
  program.reserve(words.size() + 1);
  for (std::string& word : words) program.push_back(word.data());
  program.push_back(nullptr);
  Request request;
  request.mpi = std::move(mpi);
  request.program = program.data();
  const Plan plan = make_plan(request, environment, command);
  if (!plan.preload.empty()) {
    std::printf("%s\n", plan.preload.c_str());
    return 0;
  }
  const bool is_off = !read_settings(environment.entries()).enabled;
  log(LogLevel::error, "preload: " + (!plan.is_quiet ? plan.notice
                                      : is_off       ? "MILLRACE=0 switches Millrace off: unset MILLRACE"
                                                     : "millrace itself takes no preload: name the program"));
  return plan.error ? exit_code_of(plan.error) : 1;
}

}  // namespace millrace::tools
