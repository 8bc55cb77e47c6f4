#include "tools/tune/tune.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string_view>
#include <vector>

#include "base/log.h"
#include "base/machine.h"
#include "plan/tuning.h"
#include "tools/busy.h"
#include "tools/command_app.h"
#include "tools/command_line.h"
#include "tools/progress.h"
#include "tools/tune/measure_copies.h"
#include "tools/tune/measure_messages.h"

namespace millrace::tools {
namespace {

bool write(const std::filesystem::path& path, const std::string& text) {
  std::error_code error;
  if (path.has_parent_path()) std::filesystem::create_directories(path.parent_path(), error);
  const std::filesystem::path draft = path.string() + ".new";
  {
    std::ofstream file(draft, std::ios::binary);
    if (!(file << text).flush()) return false;
  }
  std::filesystem::rename(draft, path, error);
  return !error;
}

// Where "--" is, or the end.
char** find_dashes(char** arguments) {
  while (*arguments && std::string_view(*arguments) != "--") ++arguments;
  return arguments;
}

void measure_copies_into(plan::Tuning& tuning) {
  std::vector<CopyChoice> choices;
  {
    Progress progress("millrace tune");
    progress.step("copies");
    tuning.copies = measure_copies(choices, [&](std::size_t done, std::size_t all) { progress.part(done, all); });
  }
  for (const CopyChoice& choice : choices) std::fprintf(stderr, "%s\n", choice_in_words(choice).c_str());
}

constexpr int busy_sample_ms = 300;

// Without the table nothing is tuned, and nothing learned.
int reset(const std::string& path) {
  std::error_code error;
  if (path != "-" && std::filesystem::remove(path, error)) {
    std::printf("%s is deleted\n", path.c_str());
    return 0;
  }
  if (!error) {
    std::printf("%s: there is no table\n", path.c_str());
    return 0;
  }
  log(LogLevel::error, fmt::format("tune: {} cannot be deleted: {}", path, error.message()));
  return 1;
}

}  // namespace

int tune_command(char** arguments) {
  if (arguments[1] && std::string_view(arguments[1]) == "--measure-messages" && arguments[2])
    return measure_messages_on_rank(arguments[2], arguments[3] ? arguments[4] : nullptr);
  MessageOptions messages;
  messages.table = "none";
  char** const dashes = find_dashes(arguments);
  const bool has_launcher = *dashes != nullptr;
  for (char** word = dashes; has_launcher && *++word;) messages.launcher.emplace_back(*word);
  *dashes = nullptr;
  const int argument_count = static_cast<int>(dashes - arguments);
  std::string path = plan::standard_tuning_path(environ);
  bool resets = false;
  CommandApp app("Measures how copies are fastest on this machine, and writes a table that the preload reads.",
                 "millrace tune");
  app.footer(
      "-- mpirun -n 2        also measures messages of derived datatypes, by this launcher's MPI, in some minutes\n\n"
      "Run it on an idle machine. The ranks of a job must have the same table; without one nothing changes.\n"
      "What the table holds already and is not measured is kept: messages of other hosts, and collectives.");
  app.add_option("--out", path, "the table (millrace/tuning.json in XDG_CONFIG_HOME); '-' prints it")
      ->type_name("FILE");
  app.add_flag("--reset", resets, "delete the table, so that all is as before any tuning, and stop");
  app.add_flag("--quick", messages.quick, "few sizes and turns of messages: to see whether it works");
  try {
    app.parse(argument_count, arguments);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? 0 : usage_error;
  }
  if (has_launcher && messages.launcher.empty()) {
    log(LogLevel::error, "tune: no launcher after '--': millrace tune -- mpirun -n 2");
    return usage_error;
  }
  if (path.empty()) {
    log(LogLevel::error, "tune: no home directory for the table: --out FILE");
    return usage_error;
  }
  if (resets) return reset(path);
  if (has_launcher && !can_measure_messages(messages)) return 1;
  if (const std::string warning = busy_warning(busy_processors(busy_sample_ms)); !warning.empty())
    log(LogLevel::warning, "tune: " + warning);
  plan::Tuning tuning;
  if (std::ifstream file(path); path != "-" && file) {
    const std::string text((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
    tuning = plan::parse_tuning(text, path);
    for (const std::string& complaint : tuning.complaints) log(LogLevel::warning, complaint);
  }
  // Messages first need the copies that they will be packed with.
  measure_copies_into(tuning);
  if (has_launcher) {
    if (path != "-" && write(path, plan::tuning_text(tuning, machine_name()))) messages.table = path;
    if (!measure_messages(messages, tuning)) return 1;
  }
  const std::string text = plan::tuning_text(tuning, machine_name());
  if (path == "-") {
    std::fputs(text.c_str(), stdout);
    return 0;
  }
  if (!write(path, text)) {
    log(LogLevel::error, fmt::format("tune: {} cannot be written", path));
    return 1;
  }
  std::printf("%s\n", path.c_str());
  return 0;
}

}  // namespace millrace::tools
