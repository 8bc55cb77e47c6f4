#include "base/settings.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <utility>

namespace millrace {
namespace {

constexpr std::string_view prefix = "MILLRACE";

constexpr std::array table = std::to_array<Setting>({
    {"MILLRACE", SettingKind::on_off, "0|1", "1", "0 leaves every call to the host MPI, as if Millrace were not there"},
    {"MILLRACE_DISABLE", SettingKind::names, "name,...", "",
     "accelerated calls or kernels to leave to the host MPI, e.g. Reduce_local or sum_f64"},
    {"MILLRACE_ISA", SettingKind::choice, "auto|scalar|sse42|avx2|avx512|neon|sve|128|256|512", "auto",
     "forces a unit of kernels, or caps the vector width in bits"},
    {"MILLRACE_SUBSTITUTE", SettingKind::choice, "auto|always|never", "auto",
     "collective reductions that the host does: give them an op of ours where that was measured to be faster"},
    {"MILLRACE_BUFFERS", SettingKind::bytes, "BYTES|KiB|MiB|GiB", "32MiB",
     "most memory of a rank for packed messages of derived datatypes; 0 leaves them to the host MPI"},
    {"MILLRACE_THREADS", SettingKind::count, "auto|N", "auto",
     "threads of a large reduction: auto uses cores that this rank owns and nobody uses, 1 never splits"},
    {"MILLRACE_THREADS_BYTES", SettingKind::bytes, "BYTES|KiB|MiB|GiB", "8MiB",
     "the least size of a buffer for more than one thread; the default is what was measured"},
    {"MILLRACE_COLLECTIVES", SettingKind::choice, "auto|always|never", "auto",
     "collectives among the ranks of a node by shared memory: where that was measured to be faster"},
    {"MILLRACE_LAYOUTS", SettingKind::choice, "auto|always|never", "auto",
     "messages of derived datatypes: pack them ourselves where that was measured to be faster"},
    {"MILLRACE_TUNING", SettingKind::text, "FILE|none", "",
     "a table of 'millrace tune'; without it millrace/tuning.json in XDG_CONFIG_HOME (~/.config), none ignores both"},
    {"MILLRACE_ORDER", SettingKind::choice, "auto|rank", "auto",
     "rank: reductions of a node are the left fold in rank order, also where a tree would be faster"},
    {"MILLRACE_WAIT", SettingKind::choice, "auto|spin|yield|sleep", "auto",
     "how a rank waits for others of its node; auto spins if each has a core of its own, else sleeps"},
    {"MILLRACE_TREE", SettingKind::text, "kary:K|knomial:K|flat[,...][/...]", "",
     "the tree of collectives with many ranks of a node; then socket|cache, leaders-last, small-first; behind / "
     "another "
     "for what goes to the root"},
    {"MILLRACE_ALGORITHM", SettingKind::text, "CALL=NAME,...", "",
     "forces algorithms of collectives inside a node, e.g. allreduce=slices,bcast=single_copy"},
    {"MILLRACE_SINGLE_COPY", SettingKind::choice, "auto|never", "auto",
     "large messages of collectives inside a node by one copy (process_vm_readv), where the system permits it"},
    {"MILLRACE_PMPI", SettingKind::choice, "host|alike", "host",
     "where a program or its libraries call PMPI names of collectives: leave all to the host, or rely on all ranks to "
     "do so in the same calls"},
    {"MILLRACE_REPORT", SettingKind::text, "0|1|FILE.json", "0",
     "at finalisation: 1 prints the table of calls on standard error, a name ending in .json receives it as JSON"},
    {"MILLRACE_LOG", SettingKind::choice, "off|error|warning|info|debug", "warning",
     "what Millrace says on standard error"},
});

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

std::optional<std::int64_t> bytes_of(std::string_view text) {
  std::int64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc{} || number < 0) return std::nullopt;
  const std::string unit = lower({end, static_cast<std::size_t>(text.data() + text.size() - end)});
  constexpr std::array<std::pair<const char*, int>, 5> units{
      {{"", 0}, {"b", 0}, {"kib", 10}, {"mib", 20}, {"gib", 30}}};
  for (const auto& [name, shift] : units)
    if (unit == name && number <= (std::int64_t{1} << 40) >> shift) return number << shift;
  return std::nullopt;
}

bool ends_with_json(std::string_view text) { return text.size() > 5 && text.substr(text.size() - 5) == ".json"; }

// 1 to 10^15: no overflow for whoever converts it.
bool is_count(std::string_view text) {
  return !text.empty() && text.size() <= 15 && text.find_first_not_of("0123456789") == std::string_view::npos &&
         text.find_first_not_of('0') != std::string_view::npos;
}

// The checked value of one setting, or nothing if it is malformed.
std::optional<std::string> accepted(const Setting& setting, std::string_view text) {
  const std::string_view variable = setting.variable;
  if (text.empty()) return setting.standard;
  if (setting.kind == SettingKind::on_off) {
    const auto value = on_off(text);
    if (!value) return std::nullopt;
    return *value ? "1" : "0";
  }
  if (setting.kind == SettingKind::choice) {
    const std::string value = lower(text);
    for (const std::string& choice : split(setting.values, '|'))
      if (value == choice) return value;
    return std::nullopt;
  }
  if (setting.kind == SettingKind::bytes && !bytes_of(text)) return std::nullopt;
  if (setting.kind == SettingKind::count) {
    const std::string value = lower(text);
    return value == setting.standard || is_count(value) ? std::optional(value) : std::nullopt;
  }
  if (variable == "MILLRACE_REPORT") {
    if (const auto value = on_off(text)) return *value ? "1" : "0";
    if (!ends_with_json(text)) return std::nullopt;
  }
  return std::string(text);
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

std::string unknown_variable(std::string_view variable) {
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

void store(SettingValues& values, std::string_view variable, const std::string& value) {
  if (variable == "MILLRACE") values.enabled = value == "1";
  if (variable == "MILLRACE_DISABLE") values.disabled = split(value, ',');
  if (variable == "MILLRACE_ISA") values.isa = value;
  if (variable == "MILLRACE_SUBSTITUTE") values.substitute = value;
  if (variable == "MILLRACE_BUFFERS") values.buffers_bytes = bytes_of(value).value_or(values.buffers_bytes);
  if (variable == "MILLRACE_THREADS") values.threads = value;
  if (variable == "MILLRACE_THREADS_BYTES") values.threads_bytes = bytes_of(value).value_or(values.threads_bytes);
  if (variable == "MILLRACE_COLLECTIVES") values.collectives = value;
  if (variable == "MILLRACE_ORDER") values.order = value;
  if (variable == "MILLRACE_WAIT") values.wait = value;
  if (variable == "MILLRACE_TREE") values.tree = value;
  if (variable == "MILLRACE_ALGORITHM") values.algorithm = value;
  if (variable == "MILLRACE_SINGLE_COPY") values.single_copy = value;
  if (variable == "MILLRACE_PMPI") values.pmpi = value;
  if (variable == "MILLRACE_REPORT") values.report = value;
  if (variable == "MILLRACE_LOG") values.log = value;
}

}  // namespace

std::span<const Setting> settings() { return table; }

const Setting* find_setting(std::string_view variable) {
  for (const Setting& setting : table)
    if (variable == setting.variable) return &setting;
  return nullptr;
}

std::optional<std::string> setting_complaint(const Setting& setting, std::string_view text) {
  if (accepted(setting, text)) return std::nullopt;
  return fmt::format("{}={} is not one of {}", setting.variable, text, setting.values);
}

SettingValues read_settings(const char* const* environment) {
  SettingValues values;
  std::vector<std::string_view> seen;  // of two entries the first counts, as for getenv
  for (; environment && *environment; ++environment) {
    const std::string_view entry = *environment;
    const std::size_t equals = entry.find('=');
    const std::string_view variable = entry.substr(0, equals);
    if (!is_ours(variable) || std::find(seen.begin(), seen.end(), variable) != seen.end()) continue;
    seen.push_back(variable);
    const std::string_view text = equals == std::string_view::npos ? std::string_view{} : entry.substr(equals + 1);
    const Setting* setting = find_setting(variable);
    if (!setting) {
      values.complaints.push_back(unknown_variable(variable));
    } else if (const auto value = accepted(*setting, text)) {
      store(values, variable, *value);
    } else {
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
    return accepted(setting, entry.substr(equals + 1)).value_or(setting.standard);
  }
  return setting.standard;
}

}  // namespace millrace
