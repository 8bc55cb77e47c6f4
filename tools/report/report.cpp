#include "tools/report/report.h"

#include <fmt/format.h>
#include <unistd.h>

#include <string>
#include <vector>

#include "base/log.h"
#include "record/whole_file.h"
#include "tools/command_app.h"
#include "tools/command_line.h"
#include "tools/report/run.h"
#include "tools/report/shown.h"

namespace millrace::tools {
namespace {

constexpr int unreadable = 3;

int fail(int code, const std::string& why) {
  log(LogLevel::error, "report: " + why);
  return code;
}

}  // namespace

int report_command(char** arguments) {
  int words = 0;
  while (arguments[words]) ++words;
  std::string first, second, page;
  CommandApp app("Shows the report that a run has written with MILLRACE_REPORT=RUN.json, or two side by side.",
                 "millrace report");
  app.footer(
      "Exit codes: 0 shown; 2 a mistake in these words, or the page cannot be written; 3 a file is no report that\n"
      "this version reads. docs/report.md explains the figures.");
  app.add_option("RUN.json", first, "the report")->required()->type_name("");
  app.add_option("OTHER.json", second, "one to set beside it")->type_name("");
  app.add_option("--html", page, "write a page that needs nothing else")->type_name("FILE");
  try {
    app.parse(words, arguments);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? 0 : usage_error;
  }
  std::vector<Run> runs;
  std::string error;
  for (const std::string& file : {first, second}) {
    if (file.empty() && !runs.empty()) continue;
    if (!read_run(file, runs.emplace_back(), error)) return fail(unreadable, fmt::format("{} {}", file, error));
  }
  if (!record::write_all(STDOUT_FILENO, report_text(runs))) return fail(usage_error, "standard output is closed");
  if (!page.empty() && record::write_whole_file(page, report_page(runs), error) != Status::ok)
    return fail(usage_error, fmt::format("{} cannot be written: {}; name another file", page, error));
  return 0;
}

}  // namespace millrace::tools
