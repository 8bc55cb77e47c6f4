#include "tools/command_line.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <memory>
#include <string_view>
#include <vector>

#include "base/settings.h"
#include "tools/command_app.h"
#include "tools/program.h"

namespace millrace::tools {
namespace {

constexpr const char* description = "Runs an unmodified MPI program through Millrace.";
constexpr const char* footer_start =
    "PROGRAM is run as it is, with Millrace in front of its MPI library; it is not rebuilt:\n"
    "  mpirun -n 4 millrace ./app ARGS\n"
    "  mpirun -n 4 millrace --report python3 simulation.py\n"
    "or in front of the launcher, which shows that all ranks run with it (for several nodes):\n"
    "  millrace mpirun -n 64 ./app ARGS\n\n";
constexpr const char* footer_end =
    "A program that is called like one of these: millrace ./info, or millrace -- info.\n\n"
    "Exit codes: the program's own; 126 or 127 if it cannot be run or found; 2 for mistakes in these options.";

std::string footer() {
  std::string text = footer_start;
  for (const Command& command : commands()) text += fmt::format("millrace {:<14}{}\n", command.name, command.doc);
  return text + footer_end;
}

class Formatter : public CLI::Formatter {
 public:
  std::string make_usage(const CLI::App*, std::string) const override {
    std::string text =
        "Usage: millrace [OPTIONS] [--] PROGRAM [ARGS]\n"
        "       millrace [OPTIONS] mpirun [...] PROGRAM [ARGS]\n";
    for (const Command& command : commands()) {
      std::string_view ways = command.usage;
      while (!ways.empty()) {
        const std::size_t end = std::min(ways.find('\n'), ways.size());
        text += fmt::format("       millrace {}\n", ways.substr(0, end));
        ways.remove_prefix(std::min(end + 1, ways.size()));
      }
    }
    return text;
  }
};

// How many of the words are the launcher's. Derived from the declared options: those with a value take the next word.
int own_words(const CLI::App& app, int argument_count, char** arguments) {
  int index = 1;
  while (index < argument_count) {
    const std::string_view word = arguments[index];
    if (word == "--" || word.size() < 2 || word[0] != '-') break;
    ++index;
    if (word.find('=') != std::string_view::npos) continue;
    const CLI::Option* option = app.get_option_no_throw(std::string(word));
    if (option && option->get_items_expected_min() > 0) ++index;
  }
  return std::min(index, argument_count);
}

bool can_be_run(std::string_view name) {
  const char* const path = std::getenv("PATH");
  return find_program(name, path ? path : "/bin:/usr/bin").error == 0;
}

// `millrace help`, `millrace help tune`: as with --help. The words live for as long as the program's own.
Request help_for(char* subcommand) {
  static char self[] = "millrace", wish[] = "--help";
  static char* words[] = {self, nullptr, nullptr, nullptr};
  const bool is_known = subcommand && std::ranges::any_of(commands(), [&](const Command& each) {
                          return std::string_view(each.name) == subcommand;
                        });
  words[1] = is_known ? subcommand : wish;
  words[2] = is_known ? wish : nullptr;
  if (is_known || !subcommand) return parse_command_line(is_known ? 3 : 2, words);
  Request request;
  request.exit_code = usage_error;
  request.mistake = fmt::format("help: '{}' is no subcommand: millrace --help lists them", subcommand);
  return request;
}

}  // namespace

Request parse_command_line(int argument_count, char** arguments) {
  Request request;
  std::string mpi, isa, disable, report, learn, log;
  bool is_explained = false;
  CommandApp app(description, "millrace");
  app.formatter(std::make_shared<Formatter>());
  app.footer(footer());
  app.set_version_flag("-v,-V,--version", "millrace " MILLRACE_VERSION);
  auto* mpi_option = app.add_option("--mpi", mpi, "the MPI that PROGRAM loads, when it cannot be seen")
                         ->type_name("openmpi|mpich|abi|LIBRARY");
  auto* report_option =
      app.add_option("--report", report, "at the end print the table of calls, or write FILE.json (MILLRACE_REPORT)")
          ->type_name("[=FILE.json]")
          ->expected(0, 1);
  auto* learn_option =
      app.add_option("--learn", learn, "see who does the collectives of PROGRAM faster (MILLRACE_LEARN)")
          ->type_name("FILE");
  auto* isa_option = app.add_option("--isa", isa, "force an instruction set, or cap the vector width (MILLRACE_ISA)");
  auto* disable_option =
      app.add_option("--disable", disable, "calls or kernels to leave to the host MPI (MILLRACE_DISABLE)")
          ->type_name("NAME,...");
  auto* log_option = app.add_option("--log", log, "what to say on standard error (MILLRACE_LOG)");
  app.add_flag("--whole-job", request.whole_job, "all ranks of the job are started so ('millrace mpirun' says it)");
  app.add_flag("--explain,--dry-run", is_explained, "say what would be run, and why, and stop");
  const std::pair<CLI::Option*, const char*> checked[] = {
      {isa_option, "MILLRACE_ISA"}, {log_option, "MILLRACE_LOG"}, {report_option, "MILLRACE_REPORT"}};
  for (const auto& [option, variable] : checked) {
    const Setting* setting = find_setting(variable);
    if (option != report_option) option->type_name(setting->values);
  }

  const int own = own_words(app, argument_count, arguments);
  std::vector<std::string> words;
  for (int index = own - 1; index > 0; --index) words.emplace_back(arguments[index]);  // CLI11 takes them from the back
  try {
    app.parse(words);
  } catch (const CLI::Success& wish) {  // --help, --version
    app.exit(wish);
    return request;
  } catch (const CLI::ParseError& error) {
    request.exit_code = usage_error;
    request.mistake = error.what();
    return request;
  }
  const auto given = [](const CLI::Option* option, const std::string& value) {
    return option->count() ? std::optional(value) : std::nullopt;
  };
  request.mpi = given(mpi_option, mpi);
  request.isa = given(isa_option, isa);
  request.disable = given(disable_option, disable);
  request.report = report_option->count() ? std::optional(report.empty() ? "1" : report) : std::nullopt;
  request.learn = given(learn_option, learn);
  request.log = given(log_option, log);
  const std::pair<const std::optional<std::string>*, const char*> values[] = {
      {&request.isa, "MILLRACE_ISA"}, {&request.report, "MILLRACE_REPORT"}, {&request.log, "MILLRACE_LOG"}};
  for (const auto& [value, variable] : values)
    if (*value && request.mistake.empty())
      request.mistake = setting_complaint(*find_setting(variable), **value).value_or("");

  const bool is_separated = own < argument_count && std::string_view(arguments[own]) == "--";
  request.program = arguments + own + (is_separated ? 1 : 0);
  const std::string_view first = *request.program ? *request.program : "";
  if (request.mistake.empty() && !*request.program) request.mistake = "no program given: millrace --help";
  if (!request.mistake.empty()) {
    request.exit_code = usage_error;
    return request;
  }
  // A file's name that was meant for --report would be looked for as a program.
  const bool ends_in_report = own > 1 && std::string_view(arguments[own - 1]) == "--report" && !is_separated;
  if (ends_in_report && first.ends_with(".json") && !can_be_run(first)) {
    request.mistake = fmt::format("{} is no program; if the report goes there: --report={}", first, first);
    request.exit_code = usage_error;
    return request;
  }
  if (!is_separated && first == "help") return help_for(request.program[1]);
  request.action = is_explained ? Action::explain : Action::launch;
  for (const Command& command : commands())
    if (!is_separated && first == command.name) request.action = command.action;
  return request;
}

}  // namespace millrace::tools
