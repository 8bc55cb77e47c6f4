#include "tools/learn/learn.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cstdio>
#include <filesystem>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/log.h"
#include "plan/tuning.h"
#include "tools/command_app.h"
#include "tools/command_line.h"
#include "tools/executables.h"
#include "tools/learn/advise.h"
#include "tools/learn/launched.h"
#include "tools/program.h"

namespace millrace::tools {
namespace {

// What is known, in figures.
struct Known {
  std::uint64_t trials = 0;
  std::size_t ours = 0, hosts = 0, open = 0;
};
Known known_in(const std::string& path) {
  Known known;
  const plan::Tuning table = plan::parse_tuning(plan::table_text(path), path);
  for (const auto& [place, rows] : table.learned)
    for (const auto& [call, row] : rows) {
      known.trials += row.ratio.trials();
      ++(!row.done_by ? known.open : *row.done_by == plan::Side::host ? known.hosts : known.ours);
    }
  return known;
}

void say_what_was_learned(const std::string& path, const std::string& before) {
  if (plan::table_text(path) == before) {
    std::fprintf(stderr,
                 "millrace learn: nothing: no communicator inside a node made enough collective calls, or the program "
                 "did not come to MPI_Finalize\n");
    return;
  }
  const Known known = known_in(path);
  std::fprintf(stderr, "millrace learn: of %zu classes of calls we do %zu faster, the host %zu, %zu are open: %s\n",
               known.ours + known.hosts + known.open, known.ours, known.hosts, known.open, path.c_str());
}

}  // namespace

int learn_command(char** arguments) {
  char** dashes = arguments;
  while (*dashes && std::string_view(*dashes) != "--") ++dashes;
  std::vector<std::string> words;
  for (char** word = dashes; *dashes && *++word;) words.emplace_back(*word);
  *dashes = nullptr;
  std::string path = plan::standard_tuning_path(environ);
  bool only_shows = false, advises = false;
  AdviceRequest request;
  CommandApp app(
      "Runs a program, finds out who does its collectives inside a node faster, the host MPI or Millrace, and "
      "keeps it for later runs.",
      "millrace learn");
  app.footer(
      "-- mpirun -n 4 ./app ARGS    the program with its launcher; write 'millrace' in front of the program "
      "where it is not found\n\n"
      "Later runs on machines of the same kind, with the same MPI and as many ranks choose by what was learned. "
      "Run it several times: runs add up.");
  app.add_option("--out", path, "the table (millrace/tuning.json in XDG_CONFIG_HOME)")->type_name("FILE");
  app.add_flag("--dry-run", only_shows, "print the command that would be run, and stop");
  auto* const advise = app.add_flag("--advise", advises,
                                    "run it with settings of the host MPI instead, and say what they do to its calls; "
                                    "nothing is kept");
  app.add_option("--repeat", request.repeats, "how often with each setting (3)")
      ->check(CLI::Range(1, 100))
      ->needs(advise);
  app.add_option("--try", request.settings, "a setting to try as well: NAME=VALUE")
      ->type_name("NAME=VALUE")
      ->needs(advise)
      ->check([](const std::string& text) {
        const std::size_t equals = text.find('=');
        return equals == 0 || equals == std::string::npos ? "must be NAME=VALUE: " + text : std::string();
      });
  try {
    app.parse(static_cast<int>(dashes - arguments), arguments);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? 0 : usage_error;
  }
  if (words.empty() || path.empty()) {
    log(LogLevel::error, words.empty() ? "learn: no program after '--': millrace learn -- mpirun -n 4 ./app"
                                       : "learn: no home directory for the table: --out FILE");
    return usage_error;
  }
  if (advises) {
    request.words = std::move(words);
    request.only_shows = only_shows;
    return advise_settings(request);
  }
  // Ranks may run in another directory.
  std::error_code error;
  path = std::filesystem::absolute(path, error).string();
  if (!only_shows) std::filesystem::create_directories(std::filesystem::path(path).parent_path(), error);
  std::vector<std::string> command = in_front_of_programs(words, {own_path(), "--learn=" + path});
  if (command.empty()) {
    log(LogLevel::error, "learn: no program among the words after '--'; write 'millrace' in front of it");
    return usage_error;
  }
  if (only_shows) {
    std::printf("%s\n", fmt::format("{}", fmt::join(command, " ")).c_str());
    return 0;
  }
  // Whatever is in the way, the program runs.
  if (const std::string why = plan::learning_obstacle(path); !why.empty()) {
    log(LogLevel::warning,
        fmt::format("learn: {} cannot be written: {}: the program runs, nothing is kept", path, why));
    return run_to_end(words);
  }
  const std::string before = plan::table_text(path);
  const int exit_code = run_to_end(command);
  say_what_was_learned(path, before);
  return exit_code;
}

}  // namespace millrace::tools
