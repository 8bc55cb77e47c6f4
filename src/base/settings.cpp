#include "base/settings.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <string>
#include <type_traits>
#include <utility>

#include "base/file_name.h"
#include "base/launcher.h"

namespace millrace {
namespace {

constexpr std::string_view prefix = "MILLRACE";

std::string lower(std::string_view text) {
  std::string result(text);
  std::transform(result.begin(), result.end(), result.begin(),
                 [](unsigned char letter) { return static_cast<char>(std::tolower(letter)); });
  return result;
}

std::vector<std::string> split(std::string_view text, char separator) {
  std::vector<std::string> parts;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find(separator), text.size());
    if (end > 0) parts.emplace_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return parts;
}

std::optional<bool> on_off(std::string_view text) {
  const std::string value = lower(text);
  if (value == "1" || value == "on" || value == "yes" || value == "true") return true;
  if (value == "0" || value == "off" || value == "no" || value == "false") return false;
  return std::nullopt;
}

// The reverse of bytes_of(): one text for each size, so that ranks to which it was given in other words agree.
std::string bytes_text(std::int64_t bytes) {
  constexpr std::array<std::pair<const char*, int>, 3> units{{{"GiB", 30}, {"MiB", 20}, {"KiB", 10}}};
  for (const auto& [name, shift] : units)
    if (bytes != 0 && bytes % (std::int64_t{1} << shift) == 0) return fmt::format("{}{}", bytes >> shift, name);
  return std::to_string(bytes);
}

// A call as the standard writes it, "Reduce_local", a kernel in lower case, "sum_f64": nobody should have to know which
// letters are large. Kernels end in their type, letters and then digits, which no call does.
std::string disabled_name(std::string_view text) {
  std::string name = lower(text);
  if (name.starts_with("mpi_")) name.erase(0, 4);
  const std::string_view end = std::string_view(name).substr(name.rfind('_') + 1);
  const std::size_t digits = std::min(end.find_first_of("0123456789"), end.size());
  const bool is_kernel = end.size() < name.size() && digits != 0 && digits < end.size() &&
                         end.find_first_not_of("0123456789", digits) == std::string_view::npos;
  if (!is_kernel && !name.empty()) name[0] = static_cast<char>(std::toupper(static_cast<unsigned char>(name[0])));
  return name;
}

bool ends_with_json(std::string_view text) { return text.size() > 5 && text.substr(text.size() - 5) == ".json"; }

// 1 to 10^15: no overflow for whoever converts it.
bool is_count(std::string_view text) {
  return !text.empty() && text.size() <= 15 && text.find_first_not_of("0123456789") == std::string_view::npos &&
         text.find_first_not_of('0') != std::string_view::npos;
}

// How texts become values: one of these for each row of the table. They return the text that is in force.
using Accepted = std::optional<std::string>;

template <bool SettingValues::*member>
Accepted on_or_off(const Setting&, std::string_view text, SettingValues& values) {
  const auto value = on_off(text);
  if (!value) return std::nullopt;
  values.*member = *value;
  return *value ? "1" : "0";
}

// One of `values` of the row, in lower case; nothing if it is not there.
Accepted chosen_word(const Setting& setting, std::string_view text) {
  std::string value = lower(text);
  for (const std::string& choice : split(setting.values, '|'))
    if (value == choice) return value;
  return std::nullopt;
}

template <std::string SettingValues::*member>
Accepted word(const Setting& setting, std::string_view text, SettingValues& values) {
  Accepted value = chosen_word(setting, text);
  if (value) values.*member = *value;
  return value;
}

// The words of an enumeration, in its order.
constexpr auto words_of(When) { return std::to_array<std::string_view>({"auto", "always", "never"}); }
constexpr auto words_of(ReductionOrder) { return std::to_array<std::string_view>({"auto", "rank"}); }
constexpr auto words_of(WaitMode) { return std::to_array<std::string_view>({"auto", "spin", "yield", "sleep"}); }
constexpr auto words_of(PmpiCalls) { return std::to_array<std::string_view>({"host", "alike"}); }
constexpr auto words_of(RegionMarks) { return std::to_array<std::string_view>({"level", "named", "off"}); }
constexpr auto words_of(LogLevel) {
  return std::to_array<std::string_view>({"off", "error", "warning", "info", "debug"});
}

// A row may offer fewer words than its enumeration has.
template <auto member>
Accepted choice(const Setting& setting, std::string_view text, SettingValues& values) {
  using Enumeration = std::remove_reference_t<decltype(values.*member)>;
  constexpr std::array words = words_of(Enumeration{});
  Accepted value = chosen_word(setting, text);
  const auto place = value ? std::find(words.begin(), words.end(), *value) : words.end();
  if (place == words.end()) return std::nullopt;
  values.*member = static_cast<Enumeration>(place - words.begin());
  return value;
}

template <std::int64_t SettingValues::*member>
Accepted bytes(const Setting&, std::string_view text, SettingValues& values) {
  const auto value = bytes_of(text);
  if (!value) return std::nullopt;
  values.*member = *value;
  return bytes_text(*value);
}

// A count of at least one, or the standard word for 0; what is beyond every machine counts as the most.
template <std::uint32_t SettingValues::*member>
Accepted count(const Setting& setting, std::string_view text, SettingValues& values) {
  constexpr std::uint64_t most = 1024;
  std::string value = lower(text);
  if (value != setting.standard && !is_count(value)) return std::nullopt;
  if (value == setting.standard) {
    values.*member = 0;
    return value;
  }
  values.*member = static_cast<std::uint32_t>(std::min<std::uint64_t>(std::stoull(value), most));
  return std::to_string(values.*member);
}

template <std::uint32_t SettingValues::*member>
Accepted seconds(const Setting&, std::string_view text, SettingValues& values) {
  constexpr std::uint64_t most = 86'400;
  if (!is_count(text)) return std::nullopt;
  values.*member = static_cast<std::uint32_t>(std::min<std::uint64_t>(std::stoull(std::string(text)), most));
  return std::to_string(values.*member);
}

template <std::uint32_t SettingValues::*member>
Accepted calls(const Setting&, std::string_view text, SettingValues& values) {
  constexpr std::uint64_t most = 1'000'000'000;
  if (text != "0" && !is_count(text)) return std::nullopt;
  values.*member = static_cast<std::uint32_t>(std::min<std::uint64_t>(std::stoull(std::string(text)), most));
  return std::to_string(values.*member);
}

// Numbers between signs of one sort; what they mean is checked by whoever uses it (node/node_split.h).
template <std::string SettingValues::*member>
Accepted node_split(const Setting&, std::string_view text, SettingValues& values) {
  const bool is_list = text.find_first_not_of("0123456789,") == std::string_view::npos;
  const bool are_sizes = text.find_first_not_of("0123456789+") == std::string_view::npos;
  if (!is_list && !are_sizes) return std::nullopt;
  values.*member = text;
  return std::string(text);
}

// Whether there is such a call or kernel is checked by whoever uses it. Their order means nothing.
template <std::vector<std::string> SettingValues::*member>
Accepted disabled_names(const Setting&, std::string_view text, SettingValues& values) {
  std::vector<std::string> names = split(text, ',');
  std::ranges::transform(names, names.begin(), [](const std::string& name) { return disabled_name(name); });
  std::ranges::sort(names);
  names.erase(std::ranges::unique(names).begin(), names.end());
  values.*member = names;
  return fmt::format("{}", fmt::join(names, ","));
}

template <std::string SettingValues::*member>
Accepted anything(const Setting&, std::string_view text, SettingValues& values) {
  values.*member = text;
  return std::string(text);
}

// A pattern (base/file_name.h).
template <std::string SettingValues::*member>
Accepted file(const Setting& setting, std::string_view text, SettingValues& values) {
  if (unknown_percent(text)) return std::nullopt;
  return anything<member>(setting, text, values);
}

// A switch, a pattern, or both with a comma between them.
Accepted report_places(const Setting&, std::string_view text, SettingValues& values) {
  const std::size_t comma = text.find(',');
  const bool is_both = comma != std::string_view::npos && on_off(text.substr(0, comma)) == true;
  const std::string_view name = is_both ? text.substr(comma + 1) : text;
  const auto value = on_off(text);
  if (!value && (!ends_with_json(name) || unknown_percent(name))) return std::nullopt;
  values.report_table = is_both || value == true;
  values.report_file = value ? std::string{} : std::string(name);
  return value ? (*value ? "1" : "0") : (is_both ? "1," : "") + values.report_file;
}

constexpr std::array table = std::to_array<Setting>({
    {"MILLRACE", on_or_off<&SettingValues::enabled>, "0|1", "1",
     "0 leaves every call to the host MPI, as if Millrace were not there"},
    {"MILLRACE_DISABLE", disabled_names<&SettingValues::disabled>, "name,...", "",
     "accelerated calls or kernels to leave to the host MPI, e.g. Reduce_local or sum_f64"},
    {"MILLRACE_ISA", word<&SettingValues::isa>, "auto|scalar|sse42|avx2|avx512|neon|sve|128|256|512", "auto",
     "forces a unit of kernels, or caps the vector width in bits"},
    {"MILLRACE_SUBSTITUTE", choice<&SettingValues::substitute>, "auto|always|never", "auto",
     "collective reductions that the host does: give them an op of ours where that was measured to be faster"},
    {"MILLRACE_BUFFERS", bytes<&SettingValues::buffers_bytes>, "BYTES[KiB|MiB|GiB|KB|MB|GB]", "32MiB",
     "most memory of a rank for packed messages of derived datatypes; 0 leaves them to the host MPI"},
    {"MILLRACE_THREADS", count<&SettingValues::threads>, "auto|N", "auto",
     "threads of a large reduction: auto uses cores that this rank owns and nobody uses, 1 never splits"},
    {"MILLRACE_THREADS_BYTES", bytes<&SettingValues::threads_bytes>, "BYTES[KiB|MiB|GiB|KB|MB|GB]", "8MiB",
     "the least size of a buffer for more than one thread; the default is what was measured"},
    {"MILLRACE_COLLECTIVES", choice<&SettingValues::collectives>, "auto|always|never", "auto",
     "collectives among the ranks of a node by shared memory: where that was measured to be faster"},
    {"MILLRACE_LAYOUTS", choice<&SettingValues::layouts>, "auto|always|never", "auto",
     "messages of derived datatypes: pack them ourselves where that was measured to be faster"},
    {"MILLRACE_TUNING", file<&SettingValues::tuning>, "FILE|none", "",
     "a table of 'millrace tune'; without it millrace/tuning.json in XDG_CONFIG_HOME (~/.config), none ignores both"},
    {"MILLRACE_AGREE_AFTER", calls<&SettingValues::agree_after_calls>, "N", "224",
     "so many calls of a few bytes the host does on a communicator before its ranks agree to share memory, which takes "
     "as long as some hundred of them; 8 KiB count for one more call, and with more ranks than processors four are "
     "enough"},
    {"MILLRACE_ORDER", choice<&SettingValues::order>, "auto|rank", "auto",
     "rank: reductions of a node are the left fold in rank order, also where a tree or the host is faster"},
    {"MILLRACE_WAIT", choice<&SettingValues::wait>, "auto|spin|yield|sleep", "auto",
     "how a rank waits for others of its node; auto spins if each has a core of its own, else sleeps"},
    {"MILLRACE_TREE", anything<&SettingValues::tree>, "kary:K|knomial:K|flat[,...][/...]", "",
     "the tree of collectives with many ranks of a node; then socket|cache, leaders-last, small-first; behind / "
     "another for what goes to the root"},
    {"MILLRACE_ALGORITHM", anything<&SettingValues::algorithm>, "CALL=NAME,...", "",
     "forces algorithms of collectives inside a node, e.g. allreduce=slices,bcast=single_copy"},
    {"MILLRACE_SINGLE_COPY", choice<&SettingValues::single_copy>, "auto|never", "auto",
     "large messages of collectives inside a node by one copy (process_vm_readv), where the system permits it"},
    {"MILLRACE_MEASURE", choice<&SettingValues::measure>, "auto|always|never", "auto",
     "collectives, and messages of derived types: time some of the job's, ours and the host's, and go on with what was "
     "faster; "
     "always without a limit on what that costs"},
    {"MILLRACE_LEARN", file<&SettingValues::learn>, "FILE", "",
     "a tuning table into which goes what this run shows of who does its collectives faster ('millrace learn')"},
    {"MILLRACE_PMPI", choice<&SettingValues::pmpi>, "host|alike", "host",
     "where a program or its libraries call PMPI names of collectives: leave all to the host, or rely on all ranks to "
     "do so in the same calls"},
    {"MILLRACE_NODES", choice<&SettingValues::nodes>, "auto|always|never", "auto",
     "collectives of ranks on several nodes: auto where the launcher shows that all ranks run with Millrace, always "
     "where you know it"},
    {"MILLRACE_NODES_WAIT", seconds<&SettingValues::nodes_wait_seconds>, "SECONDS", "60",
     "so long ranks wait in MPI_Init for those of other nodes, if all are known to come; then the job ends"},
    {"MILLRACE_NODE_SPLIT", node_split<&SettingValues::node_split>, "N+N+...|NODE,NODE,...", "",
     "pretends several nodes on one, to try things out: sizes, e.g. 2+2, or the node of each rank, e.g. 0,1,0,1"},
    {"MILLRACE_REPORT", report_places, "0|1|FILE.json|1,FILE.json", "0",
     "at finalisation: 1 prints the table of calls on standard error, a name ending in .json receives it as JSON; in "
     "names of files %j is the job, %h the node, %p the process, %% a percent sign"},
    {"MILLRACE_REGIONS", choice<&SettingValues::regions>, "level|named|off", "level",
     "parts of the program in the report: MPI_Pcontrol(n) from n = 3 on begins one, or, named, MPI_Pcontrol(1, name) "
     "does and MPI_Pcontrol(-1, name) ends it"},
    {"MILLRACE_LOG", choice<&SettingValues::log>, "off|error|warning|info|debug", "warning",
     "what Millrace says on standard error"},
});

// The value in force for one text, which is stored, or nothing if it is malformed.
Accepted accept(const Setting& setting, std::string_view text, SettingValues& values) {
  if (text.empty()) return setting.standard;
  return setting.read(setting, text, values);
}

std::size_t edit_distance(std::string_view left, std::string_view right) {
  std::vector<std::size_t> row(right.size() + 1);
  for (std::size_t j = 0; j < row.size(); ++j) row[j] = j;
  for (std::size_t i = 1; i <= left.size(); ++i) {
    std::size_t diagonal = row[0];
    row[0] = i;
    for (std::size_t j = 1; j < row.size(); ++j) {
      const std::size_t above = row[j];
      row[j] = std::min({row[j] + 1, row[j - 1] + 1, diagonal + (left[i - 1] == right[j - 1] ? 0 : 1)});
      diagonal = above;
    }
  }
  return row.back();
}

// Variables of ours that this table does not hold: of the Python package, and names of macros, which as variables do
// nothing.
constexpr std::string_view python_library = "MILLRACE_LIBRARY";
constexpr std::string_view macro_of_tasks = "MILLRACE_TASK_BYTES";

// "" if there is nothing to say.
std::string unknown_variable(std::string_view variable) {
  if (variable == python_library) return {};
  if (variable == macro_of_tasks)
    return fmt::format("{} is a macro of millrace_mpi_tasks.h, no variable: compile with -D{}=BYTES", variable,
                       variable);
  const Setting* nearest = nullptr;
  std::size_t nearest_distance = 4;  // further away than this is no typing error
  for (const Setting& setting : table) {
    const std::size_t distance = edit_distance(variable, setting.variable);
    if (distance < nearest_distance) {
      nearest = &setting;
      nearest_distance = distance;
    }
  }
  if (nearest) return fmt::format("unknown setting {}: did you mean {}?", variable, nearest->variable);
  return fmt::format("unknown setting {}: 'millrace info' lists the settings", variable);
}

bool is_ours(std::string_view variable) {
  return variable == prefix || (variable.size() > prefix.size() && variable.substr(0, prefix.size()) == prefix &&
                                variable[prefix.size()] == '_');
}

}  // namespace

std::optional<std::int64_t> bytes_of(std::string_view text) {
  std::int64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc{} || number < 0) return std::nullopt;
  const std::string unit = lower({end, static_cast<std::size_t>(text.data() + text.size() - end)});
  struct Unit {
    const char* name;
    std::int64_t bytes;
  };
  constexpr std::array units = std::to_array<Unit>({{"", 1},
                                                    {"b", 1},
                                                    {"kb", 1000},
                                                    {"mb", 1'000'000},
                                                    {"gb", 1'000'000'000},
                                                    {"kib", std::int64_t{1} << 10},
                                                    {"mib", std::int64_t{1} << 20},
                                                    {"gib", std::int64_t{1} << 30}});
  constexpr std::int64_t most_bytes = std::int64_t{1} << 40;
  for (const Unit& known : units)
    if (unit == known.name && number <= most_bytes / known.bytes) return number * known.bytes;
  return std::nullopt;
}

std::span<const Setting> settings() { return table; }

const Setting* find_setting(std::string_view variable) {
  for (const Setting& setting : table)
    if (variable == setting.variable) return &setting;
  return nullptr;
}

SettingValues::SettingValues() {
  for (const Setting& setting : table)
    if (*setting.standard) setting.read(setting, setting.standard, *this);
}

std::optional<std::string> setting_complaint(const Setting& setting, std::string_view text) {
  SettingValues scratch;
  if (accept(setting, text, scratch)) return std::nullopt;
  if (const auto unknown = std::string_view(setting.values).find("FILE") != std::string_view::npos
                               ? unknown_percent(text)
                               : std::nullopt)
    return fmt::format(
        "{}={}: {} means nothing in the name of a file: %j is the job, %h the node, %p the process, %% "
        "a percent sign",
        setting.variable, text, *unknown);
  return fmt::format("{}={} is not one of {}", setting.variable, text, setting.values);
}

SettingValues read_settings(const char* const* environment) {
  SettingValues values;
  std::vector<std::string_view> seen;  // of two entries the first counts, as for getenv
  for (; environment && *environment; ++environment) {
    const std::string_view entry = *environment;
    const std::size_t equals = entry.find('=');
    const std::string_view variable = entry.substr(0, equals);
    if (!is_ours(variable) || variable == whole_job_variable ||
        std::find(seen.begin(), seen.end(), variable) != seen.end())
      continue;
    seen.push_back(variable);
    const std::string_view text = equals == std::string_view::npos ? std::string_view{} : entry.substr(equals + 1);
    const Setting* setting = find_setting(variable);
    if (!setting) {
      if (std::string unknown = unknown_variable(variable); !unknown.empty())
        values.complaints.push_back(std::move(unknown));
    } else if (!accept(*setting, text, values)) {
      values.complaints.push_back(fmt::format("{}: using {}", setting_complaint(*setting, text).value_or(std::string{}),
                                              *setting->standard ? setting->standard : "nothing"));
    }
  }
  return values;
}

std::string setting_text(const Setting& setting, const char* const* environment) {
  for (; environment && *environment; ++environment) {
    const std::string_view entry = *environment;
    const std::size_t equals = entry.find('=');
    if (equals == std::string_view::npos || entry.substr(0, equals) != setting.variable) continue;
    SettingValues scratch;
    return accept(setting, entry.substr(equals + 1), scratch).value_or(setting.standard);
  }
  return setting.standard;
}

}  // namespace millrace
