#include "tools/simulate/simulate.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "base/files.h"
#include "base/log.h"
#include "base/settings.h"
#include "model/calibrate.h"
#include "model/others.h"
#include "model/simulation.h"
#include "plan/collective.h"
#include "plan/tuning.h"
#include "tools/command_app.h"
#include "tools/command_line.h"
#include "tools/simulate/timeline.h"

namespace millrace::tools {
namespace {

constexpr std::uint32_t most_ranks_of_events = 8;

int complain(const std::string& what) {
  log(LogLevel::error, "simulate: " + what);
  return usage_error;
}

std::optional<collective::Kind> kind_of(std::string_view name) {
  for (const collective::Kind kind : model::modelled_kinds)
    if (name == collective::kind_name(kind)) return kind;
  return std::nullopt;
}

std::string kind_names() {
  std::string names;
  for (const collective::Kind kind : model::modelled_kinds)
    names += (names.empty() ? "" : ", ") + std::string(collective::kind_name(kind));
  return names;
}

std::optional<model::Other> other_of(std::string_view name) {
  for (const model::Other other : model::all_others)
    if (name == model::other_name(other)) return other;
  return std::nullopt;
}

// A file that hwloc wrote, a directory with the /sys of a machine, or a synthetic topology. "" or what is wrong.
std::string read_topology(const std::string& topology, model::Machine& machine) {
  std::error_code unknown;
  if (std::filesystem::is_directory(topology, unknown)) return model::read_system(topology, machine);
  if (!std::filesystem::is_regular_file(topology, unknown)) return model::read_machine(topology, machine);
  return model::read_hwloc_xml(read_text(topology).value_or(""), machine);
}

struct CostOption {
  const char* name;
  double model::Costs::*cost;
  const char* what;
};
constexpr CostOption cost_options[] = {
    {"--next-line", &model::Costs::next_line_ns, "ns of one more line, asked for before the one before it came"},
    {"--ahead", &model::Costs::ahead_ns, "ns of its own work that a core looks ahead for lines to ask for"},
    {"--serve", &model::Costs::serve_ns, "ns that a line, which many ask for, is with each of them"},
    {"--lines-at-once", &model::Costs::lines_at_once, "that a core fetches of another's memory"},
    {"--taken-at-once", &model::Costs::taken_at_once, "that a core writes and another has"},
    {"--copy", &model::Costs::copy_bytes_per_ns, "GB/s of one core that copies, within its caches"},
    {"--cache", &model::Costs::cache_bytes, "bytes of a core's caches"},
    {"--last-copy", &model::Costs::last_bytes_per_ns, "GB/s of one core out of the last cache"},
    {"--last-cache", &model::Costs::last_cache_bytes, "bytes of that; no more than --cache: as if there were none"},
    {"--memory", &model::Costs::memory_bytes_per_ns, "GB/s of one core beyond its caches"},
    {"--package-copy", &model::Costs::package_bytes_per_ns, "GB/s of all cores of a package together"},
    {"--call-ns", &model::Costs::call_ns, "the instructions of a call"},
    {"--kernel-ns", &model::Costs::kernel_ns, "those of a reduction"},
    {"--system-call", &model::Costs::system_call_ns, "ns of one to read another's memory"},
    {"--system-copy", &model::Costs::system_bytes_per_ns, "GB/s at which it does"},
    {"--switch-ns", &model::Costs::switch_ns, "from one rank to another on the same core"},
};

void add_costs(CommandApp& app, model::Costs& costs) {
  for (const CostOption& option : cost_options)
    app.add_option(option.name, costs.*option.cost, option.what)->check(CLI::Range(0.01, 1e12));
}

std::string costs_text(const model::Costs& costs) {
  std::string text = fmt::format("--line {:.1f},{:.1f},{:.1f}", costs.line_ns[1], costs.line_ns[2], costs.line_ns[3]);
  for (const CostOption& option : cost_options) text += fmt::format(" {} {:.4g}", option.name, costs.*option.cost);
  return text;
}

// False: says why.
bool write_file(const std::string& path, const std::string& text) {
  std::FILE* const file = std::fopen(path.c_str(), "w");
  bool done = file && std::fwrite(text.data(), 1, text.size(), file) == text.size();
  if (file && std::fclose(file) != 0) done = false;
  if (!done) log(LogLevel::error, fmt::format("simulate: {}: {}", path, std::strerror(errno)));
  return done;
}

}  // namespace

int simulate_command(char** arguments) {
  int argument_count = 0;
  while (arguments[argument_count]) ++argument_count;
  std::string topology, call, bytes_word = "8", algorithm, other, svg;
  std::uint32_t ranks = 0, calls = 1;
  model::Question question;
  model::Costs& costs = question.costs;
  std::vector<double> wire{question.wire.latency_ns, question.wire.bytes_per_ns};
  std::vector<double> lines(costs.line_ns.begin() + 1, costs.line_ns.end());
  bool is_brief = false, only_machine = false, measures = false;
  CommandApp app("Runs the algorithm of a collective on a machine that need not be here, in simulated time.",
                 "millrace simulate");
  app.footer("  millrace simulate --topology 'pack:2 l3:8 core:8' --svg allreduce.svg allreduce 1MiB");
  app.add_option("CALL", call, "one of " + kind_names());
  app.add_option("BYTES", bytes_word, "of one rank's buffer, or of one block where there is one for each, e.g. 32KiB");
  app.add_option(
      "--topology", topology,
      "packages, last caches of each, cores of each, as hwloc writes it; or a file that lstopo wrote as XML; or "
      "the directory above a machine's /sys");
  auto* const ranks_option =
      app.add_option("--ranks", ranks, "one on each core, then again; as many as cores if not given")
          ->check(CLI::Range(1, 1024));
  app.add_option("--nodes", question.nodes, "so many, alike, of so many ranks each; the host MPI is between them")
      ->check(CLI::Range(1, 1024));
  app.add_option("--wire", wire, "ns of a message between two nodes, and the GB/s of large ones")
      ->delimiter(',')
      ->expected(1, 2)
      ->allow_extra_args(false)
      ->check(CLI::Range(0.001, 1e9));
  app.add_option("--calls", calls, "so many, one after the other; what is printed is their mean")
      ->check(CLI::Range(1, 1000));
  app.add_flag("--integers", question.any_order, "of integers, whose order makes no difference; else floating point");
  app.add_option("--algorithm", algorithm, "force one, as MILLRACE_ALGORITHM does")->type_name("NAME");
  app.add_option("--other", other,
                 "what others do: messages by flat, binomial, doubling, ring; trees by sc18, of which MILLRACE_TREE "
                 "changes that of Reduce")
      ->type_name("NAME")
      ->excludes("--algorithm");
  app.add_option("--cells", question.fixed.cells, "of sc18, into which 32 KiB of each rank are divided")
      ->check(CLI::IsMember({1, 2, 4, 8, 16, 32}));
  app.add_flag("--copy-at-root", question.fixed.copies_at_root,
               "of sc18: Reduce into a cell of the root, and from there to its receive buffer");
  app.add_option("--line", lines, "ns of a cache line within a last cache, within a package, across packages")
      ->delimiter(',')
      ->expected(1, 3)
      ->allow_extra_args(false)
      ->check(CLI::Range(0.1, 1e6));
  add_costs(app, costs);
  app.add_flag("--calibrate", measures, "measure the costs of this machine, print them as options, and use them");
  auto* const svg_option = app.add_option("--svg", svg, "draw the timeline there")->type_name("FILE");
  app.add_flag("--brief", is_brief, "no timeline");
  app.add_flag("--machine", only_machine, "print what was understood of the topology, and no more");
  try {
    app.parse(argument_count, arguments);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? 0 : usage_error;
  }
  if (wire.size() != 2) return complain("--wire has two numbers: --wire 1500,12");
  if (lines.size() != 3) return complain("--line has three numbers: --line 60,110,250");
  if (measures) {
    costs = model::measure_costs();
    lines.assign(costs.line_ns.begin() + 1, costs.line_ns.end());
    std::printf("%s\n", costs_text(costs).c_str());
    if (call.empty()) return 0;
  }
  if (topology.empty()) return complain("--topology is missing: 'pack:2 l3:8 core:8', or a file");
  if (const std::string wrong = read_topology(topology, question.machine); !wrong.empty())
    return complain("--topology: " + wrong);
  if (only_machine) {
    std::printf("%s\n", model::machine_text(question.machine).c_str());
    return 0;
  }
  const std::optional<collective::Kind> kind = kind_of(call);
  if (!kind) return complain(fmt::format("'{}' is none of {}", call, kind_names()));
  const std::optional<std::int64_t> bytes = bytes_of(bytes_word);
  if (!bytes || *bytes % 4 != 0)
    return complain(fmt::format("{} is not a size such as 32KiB, of whole elements of 4 bytes", bytes_word));
  std::string complaint;
  const SettingValues settings = read_settings(environ);
  if (!algorithm.empty() && algorithm.find('=') == std::string::npos) algorithm = call + "=" + algorithm;
  const plan::Tuning tuning = plan::read_tuning(environ);
  question.selection = plan::select_collectives(
      {settings.order == ReductionOrder::rank, settings.tree, algorithm.empty() ? settings.algorithm : algorithm,
       settings.single_copy != When::never},
      complaint, tuning.collectives);
  if (!complaint.empty()) return complain(complaint);
  question.fixed.has_tree = !settings.tree.empty();
  question.kind = *kind;
  question.bytes = static_cast<std::size_t>(*bytes);
  question.ranks = ranks_option->count() ? ranks : question.machine.core_count();
  question.calls = calls;
  question.keeps_events = !is_brief || svg_option->count() != 0;
  std::copy(lines.begin(), lines.end(), costs.line_ns.begin() + 1);
  question.wire = {wire[0], wire[1]};
  const std::optional<model::Other> named = other_of(other);
  if (!other.empty() && !named)
    return complain(fmt::format("'{}' is none of flat, binomial, doubling, ring, sc18", other));
  const model::Answer answer = named ? model::simulate_other(question, *named) : model::simulate(question);
  if (!answer.failure.empty()) return complain(answer.failure);
  if (!answer.is_right) return complain("the result is wrong: this is a defect of Millrace");
  if (!answer.is_checked && !named)
    log(LogLevel::info, "simulate: so many bytes were not moved, only their time was reckoned");
  const std::string nodes = question.nodes > 1 ? fmt::format("{} nodes of ", question.nodes) : "";
  const std::string title =
      fmt::format("{} of {} bytes by {}, {}{} ranks on {} cores: {:.0f} ns, {} bytes between cores", call,
                  *kind == collective::Kind::barrier ? 0 : *bytes, answer.algorithm, nodes, question.ranks,
                  question.machine.core_count(), answer.call_ns, answer.moved_bytes);
  if (!is_brief) std::fputs(timeline_text(answer, question.ranks <= most_ranks_of_events).c_str(), stdout);
  std::printf("%s\n", title.c_str());
  return svg_option->count() && !write_file(svg, timeline_svg(answer, title)) ? 1 : 0;
}

}  // namespace millrace::tools
