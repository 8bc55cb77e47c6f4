#include "tools/bench/bench.h"

#include <dlfcn.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <string_view>
#include <thread>
#include <vector>

#include "base/launcher.h"
#include "base/log.h"
#include "base/machine.h"
#include "base/settings.h"
#include "tools/bench/rank/rank.h"
#include "tools/bench/result.h"
#include "tools/busy.h"
#include "tools/check/process.h"
#include "tools/command_app.h"
#include "tools/command_line.h"
#include "tools/executables.h"
#include "tools/launch.h"
#include "tools/learn/program_place.h"
#include "tools/own_ranks.h"
#include "tools/program.h"
#include "tools/progress.h"
#include "tools/variant.h"

namespace millrace::tools {
namespace {

constexpr int ranks_fail = 4;
constexpr int first_sample_ms = 300, last_sample_ms = 200;
constexpr int start_seconds = 300;  // that a launcher may take beside what is measured

struct Kind {
  const char* word;
  const char* name;  // of its points
  bool in_cold, in_apart, is_standard;
};
constexpr Kind kinds[] = {{"reductions", "reduce_local", true, false, true},
                          {"packing", "pack", true, false, true},
                          {"messages", "messages", true, false, true},
                          {"collectives", "collectives", true, true, true},
                          {"nonblocking", "nonblocking", true, true, false}};

struct Options {
  std::vector<std::string> launcher;
  std::optional<std::string> mpi;
  std::vector<std::string> kinds, modes{"hot", "cold", "apart"};
  bool quick = false, shows_all = false;
  double seconds = 0;
  std::string csv, json, html;
};

std::string sections_of(const Options& options) {
  const auto has = [](const std::vector<std::string>& words, const char* word) {
    return std::ranges::find(words, word) != words.end();
  };
  std::vector<std::string> sections;
  for (const Kind& kind : kinds) {
    if (options.kinds.empty() ? !kind.is_standard : !has(options.kinds, kind.word)) continue;
    for (const auto& [mode, is_known] :
         {std::pair("hot", true), std::pair("cold", kind.in_cold), std::pair("apart", kind.in_apart)})
      if (is_known && has(options.modes, mode)) sections.push_back(fmt::format("{} {}", kind.name, mode));
  }
  return fmt::format("{}", fmt::join(sections, ","));
}

int fail(int code, const std::string& why) {
  log(LogLevel::error, "bench: " + why);
  return code;
}

// A program among the words is not run: what it is linked to says which MPI is meant, and our ranks take its place.
void take_place_of_program(Options& options, const std::string& path) {
  const std::vector<std::size_t> places = program_places(options.launcher, path);
  if (places.empty() || places.front() == 0) return;  // who stands first launches
  std::string program = options.launcher[places.front()];
  char* words[] = {program.data(), nullptr};
  Request request;
  request.program = words;
  const Plan plan = make_plan(request, Environment(environ), own_path());
  if (!options.mpi && plan.host.library) options.mpi = plan.host.library->path;
  options.launcher.resize(places.front());
}

check::Finished run_ranks(const Options& options) {
  std::vector<std::string> words = options.launcher;
  words.insert(words.end(), {own_path(), "bench", "--on-rank", options.mpi.value_or("-"), sections_of(options),
                             fmt::format("{}", options.seconds), options.quick ? "quick" : "full"});
  Progress progress("millrace bench");
  progress.step("starting");
  std::size_t looked_at = 0, looks = 0, expected = 0, seen = 0;
  const auto on_output = [&](const std::string& output) {
    // Only whole lines, and only those that are new.
    for (std::size_t end; (end = output.find('\n', looked_at)) != std::string::npos; looked_at = end + 1) {
      const std::string_view line = std::string_view(output).substr(looked_at, end - looked_at);
      if (const std::size_t at = line.find("millrace-bench points "); at != std::string_view::npos) {
        expected = static_cast<std::size_t>(std::atoll(line.data() + at + 22));
        seen = 0;
        if (expected != 0) progress.step(looks++ == 0 ? "measuring" : "what looked slower, again");
      }
      if (line.find("millrace-bench point ") != std::string_view::npos) progress.part(++seen, expected);
      // The others may wait for that rank in MPI_Init.
      if (line.find("millrace-bench complaint ") != std::string_view::npos) return false;
    }
    return true;
  };
  check::Command command{std::move(words), {}, {}};
  for (char** entry = environ; *entry; ++entry) {
    const std::string_view text(*entry);
    const std::size_t equals = std::min(text.find('='), text.size());
    if (text.starts_with("MILLRACE_") && equals < text.size())
      command.environment.emplace_back(text.substr(0, equals), text.substr(equals + 1));
  }
  return check::run_to_end(command, start_seconds + 2 * static_cast<int>(options.seconds), on_output);
}

std::string why_not(const BenchResult& result, const check::Finished& finished, const Options& options) {
  const std::string line = fmt::format("'{}'", fmt::join(options.launcher, " "));
  if (!result.complaint.empty()) return fmt::format("{}: {}", line, result.complaint);
  if (finished.timed_out) return line + " did not come to an end, and was ended";
  const std::string said = check::last_line(finished.output);
  if (result.ranks == 0)
    return fmt::format("{} started no MPI program; give a launcher's line, as in: millrace bench -- mpirun -n 8 ({})",
                       line, said);
  return fmt::format("{} ended with exit code {} before all was measured; {}", line, finished.exit_code, said);
}

void add_warnings(BenchResult& result, double busy) {
  if (std::string warning = busy_warning(busy); !warning.empty()) result.warnings.push_back(std::move(warning));
  const unsigned processors = std::thread::hardware_concurrency();
  const int ranks_here = result.nodes > 0 ? (result.ranks + result.nodes - 1) / result.nodes : 0;
  if (processors != 0 && ranks_here > static_cast<int>(processors))
    result.warnings.push_back(fmt::format("{} ranks on {} processors take turns: much of what was measured is waiting",
                                          ranks_here, processors));
  if (result.ranks == 1) result.warnings.emplace_back("one rank: messages and collectives need two");
}

bool write(const std::string& path, const std::string& text) {
  if (path.empty()) return true;
  std::ofstream file(path, std::ios::binary);
  if ((file << text).flush()) return true;
  log(LogLevel::error, fmt::format("bench: {} cannot be written; name another file", path));
  return false;
}

// --on-rank MPI SECTIONS SECONDS PACE [ABI LIBRARY]
int bench_on_rank(char** words) {
  const auto complain = [](const std::string& complaint) {
    std::printf("%scomplaint %s\n", bench_mark, complaint.c_str());
    return 1;
  };
  for (int i = 0; i < 4; ++i)
    if (!words[i]) return usage_error;
  if (!read_settings(environ).enabled) return complain("MILLRACE=0 switches Millrace off on a rank: unset it there");
  const bool is_quick = std::string_view(words[3]) == "quick";
  if (!words[4]) {
    // Our calls under both names are alike on all ranks, and all ranks are ours.
    setenv("MILLRACE_PMPI", "alike", 1);
    setenv(whole_job_variable, std::to_string(getpid()).c_str(), 1);
    const std::optional<std::string> mpi =
        std::string_view(words[0]) == "-" ? std::nullopt : std::optional<std::string>(words[0]);
    return complain(restart_under_preload({"bench", "--on-rank", words[0], words[1], words[2], words[3]}, mpi));
  }
  if (const std::string complaint = load_host(words[5]); !complaint.empty()) return complain(complaint);
  const std::string object = fmt::format("{}/millrace-bench-{}.so", preload_directory(own_path()), words[4]);
  void* const loaded = dlopen(object.c_str(), RTLD_NOW | RTLD_LOCAL);
  const char* const why = loaded ? nullptr : dlerror();
  const auto bench = loaded ? reinterpret_cast<BenchFunction>(dlsym(loaded, bench_function)) : nullptr;
  if (!bench) return complain(fmt::format("{} cannot be loaded: {}", object, why ? why : "it is none of ours"));
  const BenchOrder order{
      words[1], is_quick ? 11 : 21, is_quick ? 1000.0 : 2000.0, is_quick ? 50'000.0 : 100'000.0, std::atof(words[2]),
      is_quick};
  return bench(&order);
}

}  // namespace

int bench_command(char** arguments, std::optional<std::string> mpi) {
  if (arguments[1] && std::string_view(arguments[1]) == "--on-rank") return bench_on_rank(arguments + 2);
  char** dashes = arguments;
  while (*dashes && std::string_view(*dashes) != "--") ++dashes;
  Options options;
  options.mpi = std::move(mpi);
  for (char** word = dashes; *dashes && *++word;) options.launcher.emplace_back(*word);
  *dashes = nullptr;
  CommandApp app("Lets Millrace's calls and the host MPI's own take turns in one run: is any slower, how much faster?",
                 "millrace bench");
  app.footer(
      "-- mpirun -n 8    the launcher; a program behind it is not run, but tells which MPI is meant\n\n"
      "Exit codes: 0 nothing is surely slower; 1 something is; 4 it could not be measured; 2 a mistake in these "
      "words.\n"
      "docs/bench.md explains the figures.");
  app.add_flag("--quick", options.quick, "every other size, in two minutes (else all, in ten)");
  app.add_option("--seconds", options.seconds, "so much time for measuring (100, or 560)")
      ->check(CLI::Range(1.0, 86'400.0));
  app.add_option("--kinds", options.kinds,
                 "only these of: reductions, packing, messages, collectives; and nonblocking, which is left out else")
      ->delimiter(',')
      ->check(CLI::IsMember({"reductions", "packing", "messages", "collectives", "nonblocking"}))
      ->type_name("KIND,...");
  app.add_option("--modes", options.modes, "only these of: hot, cold, apart (docs/bench.md)")
      ->delimiter(',')
      ->check(CLI::IsMember({"hot", "cold", "apart"}))
      ->type_name("MODE,...");
  app.add_option("--mpi", options.mpi, "the MPI of the launcher, when it cannot be seen")
      ->type_name("openmpi|mpich|abi|LIBRARY");
  app.add_flag("--all", options.shows_all, "print every point");
  app.add_option("--csv", options.csv, "write the times of every turn")->type_name("FILE");
  app.add_option("--json", options.json, "write medians, intervals and verdicts")->type_name("FILE");
  app.add_option("--html", options.html, "write a page that needs nothing else")->type_name("FILE");
  try {
    app.parse(static_cast<int>(dashes - arguments), arguments);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? 0 : usage_error;
  }
  if (options.launcher.empty()) return fail(usage_error, "no launcher after '--': millrace bench -- mpirun -n 8");
  if (sections_of(options).empty())
    return fail(usage_error, "of these kinds nothing is measured in these modes: apart is for collectives");
  if (!read_settings(environ).enabled) return fail(usage_error, "MILLRACE=0 switches Millrace off: unset MILLRACE");
  const char* const search_path = std::getenv("PATH");
  const std::string path = search_path ? search_path : "/bin:/usr/bin";
  if (find_program(options.launcher[0], path).error != 0)
    return fail(usage_error, options.launcher[0] + ": not found; give the launcher's path");
  take_place_of_program(options, path);
  if (options.seconds == 0) options.seconds = options.quick ? 100 : 560;

  const double busy_before = busy_processors(first_sample_ms);
  if (const std::string warning = busy_warning(busy_before); !warning.empty())
    log(LogLevel::warning, "bench: " + warning);
  check::catch_interrupts();
  const check::Finished finished = run_ranks(options);
  if (check::is_interrupted()) return 128 + check::interrupted_by();
  BenchResult result = read_bench(finished.output);
  if (!result.is_complete) return fail(ranks_fail, why_not(result, finished, options));
  if (result.points.empty()) return fail(ranks_fail, "one rank has no messages and collectives: mpirun -n 2");
  result.command = fmt::format("{}", fmt::join(options.launcher, " "));
  result.machine = millrace::machine_name();
  add_warnings(result, std::max(busy_before, busy_processors(last_sample_ms)));
  std::fputs(as_text(result, options.shows_all).c_str(), stdout);
  // Each, whatever becomes of the others.
  const bool are_written[] = {write(options.csv, as_csv(result)), write(options.json, as_json(result)),
                              write(options.html, as_html(result))};
  if (std::ranges::count(are_written, false) != 0) return usage_error;
  return result.count(Speed::slower) == 0 ? 0 : 1;
}

}  // namespace millrace::tools
