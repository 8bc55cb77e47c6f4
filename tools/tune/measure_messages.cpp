#include "tools/tune/measure_messages.h"

#include <dlfcn.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <optional>
#include <sstream>

#include "base/log.h"
#include "plan/measured_messages.h"
#include "tools/check/process.h"
#include "tools/executables.h"
#include "tools/own_ranks.h"
#include "tools/program.h"
#include "tools/progress.h"

namespace millrace::tools {
namespace {

constexpr int timeout_seconds = 900;
constexpr const char* mark = "millrace-tune ";

struct Pace {
  int passes, turns;
  double turn_ms;
  int step;
};
constexpr Pace full_pace{2, 11, 0.5, 2};
constexpr Pace quick_pace{1, 5, 0.1, 16};
constexpr Pace no_pace{0, 0, 0, 2};

const Pace& pace_of(std::string_view word) {
  return word == "none" ? no_pace : word == "quick" ? quick_pace : full_pace;
}

// About how many lines with ratios the ranks will print: two a size of a class (src/shim/packed/measure_messages.cpp).
std::size_t expected_ratios(const Pace& pace) {
  std::size_t sizes = 0;
  for (std::int64_t bytes = 64; bytes <= 4 * plan::mib; bytes *= pace.step) ++sizes;
  return 2 * sizes * plan::layout_classes * static_cast<std::size_t>(pace.passes);
}

// What the ranks have said.
struct Said {
  std::string host, complaint;
  int ranks = 0;
  bool done = false;
  // By class: the worst ratio of each size.
  std::map<std::string, std::map<std::int64_t, double>> ratios;
};

Said read(const std::string& output) {
  Said said;
  std::istringstream lines(output);
  for (std::string line; std::getline(lines, line);) {
    const std::size_t start = line.find(mark);  // launchers may put the rank's number in front
    if (start == std::string::npos) continue;
    std::istringstream words(line.substr(start + std::string_view(mark).size()));
    std::string key;
    words >> key >> std::ws;
    if (key == "host" || key == "complaint") {
      std::getline(words, key == "host" ? said.host : said.complaint);
    } else if (key == "ranks") {
      words >> said.ranks;
    } else if (key == "done") {
      said.done = true;
    } else {
      std::int64_t bytes = 0;
      double ratio = 0;
      if (!(words >> bytes >> ratio)) continue;
      const auto [known, is_new] = said.ratios[key].try_emplace(bytes, ratio);
      known->second = std::min(known->second, ratio);
    }
  }
  return said;
}

std::string joined(const std::vector<std::string>& words) { return fmt::format("{}", fmt::join(words, " ")); }

// Why there is nothing to choose from; empty if there is.
std::string failure(const Said& said, const check::Finished& finished, const MessageOptions& options) {
  const std::string line = joined(options.launcher);
  if (!said.complaint.empty()) return fmt::format("'{}': {}", line, said.complaint);
  if (finished.timed_out) return fmt::format("'{}' did not end within {} seconds", line, timeout_seconds);
  if (said.ranks != 0 && said.ranks != 2)
    return fmt::format("'{}' starts {} rank{}, but messages go between 2: -n 2", line, said.ranks,
                       said.ranks == 1 ? "" : "s");
  if (said.ranks == 0)
    return fmt::format("'{}' started no MPI program; give a launcher's line, as in: millrace tune -- mpirun -n 2 ({})",
                       line, check::last_line(finished.output));
  if (!said.done)
    return fmt::format("'{}' ended with exit code {} before all was measured; {}", line, finished.exit_code,
                       check::last_line(finished.output));
  return {};
}

std::string text_of(const plan::MessageRange& range) {
  if (range.most_bytes < range.least_bytes) return "left to the host";
  if (range.most_bytes == plan::any_size) return fmt::format("packed by Millrace from {} bytes on", range.least_bytes);
  return fmt::format("packed by Millrace from {} to {} bytes", range.least_bytes, range.most_bytes);
}

const char* in_words(plan::LayoutClass layout_class) {
  constexpr std::array<const char*, plan::layout_classes> words{"messages of structures",
                                                                "messages of blocks of up to 4 bytes",
                                                                "messages of blocks of up to 8 bytes",
                                                                "messages of blocks of up to 32 bytes",
                                                                "messages of blocks of up to 128 bytes",
                                                                "messages of longer blocks",
                                                                "messages of columns of wide matrices",
                                                                "messages of lists of short blocks",
                                                                "messages of lists of long blocks"};
  return words[static_cast<std::size_t>(layout_class)];
}

// Nothing, with one line that names the fix, if they could not do it.
std::optional<Said> run_ranks(const MessageOptions& options, const char* pace_word) {
  const char* search_path = std::getenv("PATH");
  if (find_program(options.launcher[0], search_path ? search_path : "/bin:/usr/bin").error != 0) {
    log(LogLevel::error, fmt::format("tune: {}: not found; give the launcher's path", options.launcher[0]));
    return std::nullopt;
  }
  check::Command command{options.launcher, {}, {{"MILLRACE_LAYOUTS", "always"}, {"MILLRACE_TUNING", options.table}}};
  for (const std::string& word :
       {own_path(), std::string("tune"), std::string("--measure-messages"), std::string(pace_word)})
    command.words.push_back(word);
  Progress progress("millrace tune");
  const std::size_t all = expected_ratios(pace_of(pace_word));
  if (all != 0) progress.step("messages");
  const check::Finished finished = check::run_to_end(command, timeout_seconds, [&](const std::string& output) {
    const auto lines = static_cast<std::size_t>(std::count(output.begin(), output.end(), '\n'));
    if (all != 0) progress.part(std::min(lines, all), all);
    return true;
  });
  progress.clear();
  Said said = read(finished.output);
  std::string wrong = failure(said, finished, options);
  if (wrong.empty() && plan::hosts::index_of(said.host) == std::size(plan::hosts::measured))
    wrong = fmt::format("'{}' runs a host that tables have no name for", joined(options.launcher));
  if (!wrong.empty()) {
    log(LogLevel::error, "tune: " + wrong);
    return std::nullopt;
  }
  return said;
}

}  // namespace

bool can_measure_messages(const MessageOptions& options) { return run_ranks(options, "none").has_value(); }

bool measure_messages(const MessageOptions& options, plan::Tuning& tuning) {
  const std::optional<Said> ranks = run_ranks(options, options.quick ? "quick" : "full");
  if (!ranks) return false;
  const Said& said = *ranks;
  const std::size_t host = plan::hosts::index_of(said.host);
  const plan::MessageRanges standard = plan::message_ranges(*plan::hosts::measured[host]);
  for (std::size_t i = 0; i < plan::layout_classes; ++i) {
    const char* name = plan::layout_class_name(static_cast<plan::LayoutClass>(i));
    std::vector<plan::MeasuredSize> sizes;
    for (const auto& [bytes, ratio] :
         said.ratios.contains(name) ? said.ratios.at(name) : std::map<std::int64_t, double>{})
      sizes.push_back({bytes, ratio});
    const plan::MessageRange range = plan::won_range(sizes);
    tuning.messages[host][i] = range;
    const bool is_same = text_of(range) == text_of(standard[i]);
    std::fprintf(stderr, "%s: %s: %s%s\n", said.host.c_str(), in_words(static_cast<plan::LayoutClass>(i)),
                 text_of(range).c_str(),
                 is_same ? ", as without a table" : fmt::format(" (without a table {})", text_of(standard[i])).c_str());
  }
  return true;
}

int measure_messages_on_rank(const char* pace_word, const char* library) {
  const auto complain = [](const std::string& complaint) {
    std::printf("%scomplaint %s\n", mark, complaint.c_str());
    return 1;
  };
  if (!library) return complain(restart_under_preload({"tune", "--measure-messages", pace_word}, std::nullopt));
  if (const std::string complaint = load_host(library); !complaint.empty()) return complain(complaint);
  using Measure = int (*)(int, int, double, int);
  const auto measure = reinterpret_cast<Measure>(dlsym(RTLD_DEFAULT, "millrace_measure_messages"));
  if (!measure) return complain("the preload cannot be loaded");
  const Pace& pace = pace_of(pace_word);
  return measure(pace.passes, pace.turns, pace.turn_ms, pace.step);
}

}  // namespace millrace::tools
