#include "tools/compare/compare.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <fstream>
#include <nlohmann/json.hpp>
#include <optional>
#include <string_view>

#include "base/log.h"
#include "base/machine.h"
#include "tools/busy.h"
#include "tools/command_app.h"
#include "tools/command_line.h"
#include "tools/compare/result.h"
#include "tools/job.h"
#include "tools/learn/launched.h"
#include "tools/progress.h"

namespace millrace::tools {
namespace {

constexpr int job_fails = 4;
constexpr int first_sample_ms = 300, sample_ms = 100;

struct Options {
  std::vector<std::string> words;
  int repeats = 5;
  std::vector<std::string> ignored;
  double tolerance = 0;
  std::string csv, html;
};

std::string last_line(const std::string& text) {
  const std::size_t end = text.find_last_not_of(" \n\t\r");
  if (end == std::string::npos) return "it printed nothing on standard error";
  const std::size_t start = text.rfind('\n', end);
  return text.substr(start == std::string::npos ? 0 : start + 1,
                     end - (start == std::string::npos ? 0 : start + 1) + 1);
}

class Comparison {
 public:
  explicit Comparison(const Options& options)
      : options_(options), job_(options.words), all_(2 * static_cast<std::size_t>(options.repeats) + 2) {}

  // The exit code; `result` only if it is 0.
  int run(CompareResult& result) {
    if (const std::string obstacle = job_.obstacle(); !obstacle.empty()) return fail(usage_error, obstacle);
    busy_.push_back(busy_processors(first_sample_ms));
    if (const std::string warning = busy_warning(busy_.front()); !warning.empty())
      log(LogLevel::warning, "compare: " + warning);
    progress_.step(fmt::format("{} runs", all_));
    // The first two are not counted: they bring what later ones find in caches, and the report.
    const JobRun first = run_once(Millrace::off);
    if (stopped_by() != 0) return 128 + stopped_by();
    if (first.exit_code != 0)
      return fail(job_fails, fmt::format("the job ends with exit code {} without Millrace: {}", first.exit_code,
                                         last_line(first.errors)));
    outputs_without_.push_back(first.output);
    run_once(Millrace::reporting);
    if (stopped_by() != 0) return 128 + stopped_by();
    reports_ = job_.reports();
    for (int repeat = 0; repeat < options_.repeats; ++repeat) {
      // Who is first takes turns as well: the machine may be warmer, or cooler, for the second.
      for (const Millrace side :
           repeat % 2 ? std::array{Millrace::on, Millrace::off} : std::array{Millrace::off, Millrace::on}) {
        const JobRun run = run_once(side);
        if (stopped_by() != 0) return 128 + stopped_by();
        (side == Millrace::on ? result.with_seconds : result.without_seconds).push_back(run.seconds);
        (side == Millrace::on ? result.with_codes : result.without_codes).push_back(run.exit_code);
        (side == Millrace::on ? outputs_with_ : outputs_without_).push_back(run.output);
      }
      busy_.push_back(busy_processors(sample_ms));
    }
    progress_.clear();
    judge(result);
    return 0;
  }

 private:
  static int fail(int code, const std::string& why) {
    log(LogLevel::error, "compare: " + why);
    return code;
  }

  JobRun run_once(Millrace millrace) {
    JobRun run = job_.run(millrace);
    progress_.part(++done_, all_);
    return run;
  }

  void judge(CompareResult& result) {
    result.command = fmt::format("{}", fmt::join(options_.words, " "));
    result.machine = machine_name();
    if (!reports_.empty() && reports_.front().contains("by_rank") && !reports_.front()["by_rank"].empty()) {
      result.host = reports_.front()["by_rank"][0].value("host_mpi", "");
      result.host = result.host.substr(0, result.host.find(','));
      result.ranks = reports_.front().value("ranks", std::uint64_t{0});
    }
    result.calls = saved_calls(reports_);
    result.speed = judge_speed(result.without_seconds, result.with_seconds);
    OutputRules rules;
    if (!options_.ignored.empty()) rules.ignored = std::regex(fmt::format("{}", fmt::join(options_.ignored, "|")));
    rules.tolerance = options_.tolerance;
    result.output = compare_outputs(outputs_without_, outputs_with_, rules);
    std::ranges::sort(busy_);
    if (std::string warning = busy_warning(busy_[busy_.size() / 2]); !warning.empty())
      result.warnings.push_back(std::move(warning));
    if (result.speed.is_wide)
      result.warnings.push_back(
          fmt::format("the runs are far apart: {} runs of each, or an idle machine, tell more (--repeat {})",
                      3 * options_.repeats, 3 * options_.repeats));
  }

  const Options& options_;
  Job job_;
  std::size_t all_, done_ = 0;
  Progress progress_{"millrace compare"};
  std::vector<std::string> outputs_without_, outputs_with_;
  std::vector<nlohmann::json> reports_;
  std::vector<double> busy_;
};

bool write(const std::string& path, const std::string& text) {
  std::ofstream file(path, std::ios::binary);
  if ((file << text).flush()) return true;
  log(LogLevel::error, fmt::format("compare: {} cannot be written; name another file", path));
  return false;
}

std::string regex_complaint(const std::string& text) {
  try {
    [[maybe_unused]] const std::regex tried(text);
    return {};
  } catch (const std::regex_error&) {
    return text + " is no regular expression (of ECMAScript)";
  }
}

}  // namespace

int compare_command(char** arguments) {
  char** dashes = arguments;
  while (*dashes && std::string_view(*dashes) != "--") ++dashes;
  Options options;
  for (char** word = dashes; *dashes && *++word;) options.words.emplace_back(*word);
  *dashes = nullptr;
  CommandApp app("Runs a job with and without Millrace, in turns, and says whether it is faster and prints the same.",
                 "millrace compare");
  app.footer(
      "-- mpirun -n 4 ./app ARGS    the program with its launcher, as without Millrace\n\n"
      "Exit codes: 0 the same results, not slower; 1 another output or exit code; 3 slower; 4 the job fails without\n"
      "Millrace; 2 a mistake in these words. docs/compare.md explains the figures.");
  app.add_option("--repeat", options.repeats, "runs of each (5)")->check(CLI::Range(1, 1000));
  app.add_option("--ignore", options.ignored, "leave out lines of the output in which this is found; may be repeated")
      ->type_name("REGEX")
      ->allow_extra_args(false)
      ->check(regex_complaint);
  app.add_option("--tolerance", options.tolerance, "numbers of the output may differ by this share (0), e.g. 1e-12")
      ->check(CLI::Range(0.0, 1.0));
  app.add_option("--csv", options.csv, "write the time of each run")->type_name("FILE");
  app.add_option("--html", options.html, "write a page that needs nothing else")->type_name("FILE");
  try {
    app.parse(static_cast<int>(dashes - arguments), arguments);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? 0 : usage_error;
  }
  CompareResult result;
  if (const int exit_code = Comparison(options).run(result); exit_code != 0) return exit_code;
  std::fputs(as_text(result).c_str(), stdout);
  if (!options.csv.empty() && !write(options.csv, as_csv(result))) return usage_error;
  if (!options.html.empty() && !write(options.html, as_html(result))) return usage_error;
  return exit_code_of(result);
}

}  // namespace millrace::tools
