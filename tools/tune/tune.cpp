#include "tools/tune/tune.h"

#include <fmt/format.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "base/log.h"
#include "plan/tuning.h"
#include "tools/command_line.h"
#include "tools/tune/measure_copies.h"

namespace millrace::tools {
namespace {

// "model name" of /proc/cpuinfo, where there is one.
std::string machine() {
  std::ifstream file("/proc/cpuinfo");
  for (std::string line; std::getline(file, line);)
    if (line.starts_with("model name")) return line.substr(std::min(line.find(": ") + 2, line.size()));
  return "unknown";
}

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

}  // namespace

int tune_command(char** arguments) {
  int argument_count = 0;
  while (arguments[argument_count]) ++argument_count;
  std::string path = plan::standard_tuning_path(environ);
  CLI::App app("Measures how copies are fastest on this machine, and writes a table that the preload reads.",
               "millrace tune");
  app.footer(
      "Run it on an idle machine. The ranks of a job must have the same table; without one nothing changes.\n"
      "What the table holds already of messages and collectives is kept.");
  app.add_option("--out", path, "the table (millrace/tuning.json in XDG_CONFIG_HOME); '-' prints it")
      ->type_name("FILE");
  try {
    app.parse(argument_count, arguments);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? 0 : usage_error;
  }
  if (path.empty()) {
    log(LogLevel::error, "tune: no home directory for the table: --out FILE");
    return usage_error;
  }
  plan::Tuning tuning;
  if (std::ifstream file(path); path != "-" && file) {
    const std::string text((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
    tuning = plan::parse_tuning(text, path);
    for (const std::string& complaint : tuning.complaints) log(LogLevel::warning, complaint);
  }
  std::vector<CopyChoice> choices;
  tuning.copies = measure_copies(choices);
  for (const CopyChoice& choice : choices)
    std::fprintf(stderr, "%-28s %10s%s\n", choice.name.c_str(), choice.best.c_str(),
                 choice.best == choice.standard
                     ? ""
                     : fmt::format("  (was {}: {:.2f} times as fast)", choice.standard, choice.gain).c_str());
  const std::string text = plan::tuning_text(tuning, machine());
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
