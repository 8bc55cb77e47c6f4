#include "plan/learned.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

namespace millrace::plan {
namespace {

using collective::Kind;
using nlohmann::ordered_json;

// A trial that was hit by something else says little: it counts as four times at most.
constexpr double most_logarithm = 1.4;
constexpr std::uint32_t least_trials = 3;
// What few trials say is not surer than this.
constexpr double least_deviation = 0.05;
constexpr double standard_errors = 2;

std::optional<Kind> kind_of(const ordered_json& name) {
  for (auto kind = static_cast<int>(Kind::barrier); kind <= static_cast<int>(collective::last_kind); ++kind)
    if (name == collective::kind_name(static_cast<Kind>(kind))) return static_cast<Kind>(kind);
  return std::nullopt;
}

std::optional<Side> side_of(const ordered_json& name, bool& is_wrong) {
  if (name == "host") return Side::host;
  if (name == "ours") return Side::ours;
  is_wrong = !name.is_null();
  return std::nullopt;
}

// 32 bits for ranks, 1 for crowded, then kind, flavor and class of size.
std::uint64_t key_of(Kind kind, std::uint8_t flavor, std::int64_t bytes, std::uint32_t ranks, bool crowded) {
  const std::uint64_t size = kind == Kind::bcast ? 0xfff : size_class(bytes);
  return std::uint64_t{ranks} << 32 | std::uint64_t{crowded} << 31 | static_cast<std::uint64_t>(kind) << 20 |
         std::uint64_t{flavor} << 12 | size;
}

bool is_number(const ordered_json& row, const char* name, double least, double most) {
  const auto value = row.find(name);
  return value != row.end() && value->is_number() && value->get<double>() >= least && value->get<double>() <= most;
}

bool read_row(const ordered_json& json, LearnedRows& rows) {
  if (!json.is_object()) return false;
  constexpr double most_ranks = 1 << 24, most_count = 1e9, most_ratio = 1e6, most_size = 1e15;
  const std::optional<Kind> kind = kind_of(json.value("call", ordered_json()));
  const ordered_json crowded = json.value("crowded", ordered_json());
  bool is_wrong = false;
  const std::optional<Side> done_by = side_of(json.value("done_by", ordered_json()), is_wrong);
  if (!kind || is_wrong || !crowded.is_boolean() || !is_number(json, "flavor", 0, 255) ||
      !is_number(json, "ranks", 1, most_ranks) || !is_number(json, "trials", 1, most_count) ||
      !is_number(json, "ours_over_host", 1 / most_ratio, most_ratio) || !is_number(json, "spread", 1, most_ratio))
    return false;
  LearnedCall call{.kind = *kind,
                   .flavor = json["flavor"].get<std::uint8_t>(),
                   .ranks = json["ranks"].get<std::int32_t>(),
                   .crowded = crowded.get<bool>()};
  if (json.contains("from_bytes")) {
    if (!is_number(json, "from_bytes", 0, most_size)) return false;
    call.least_bytes = least_bytes(size_class(json["from_bytes"].get<std::int64_t>()));
  }
  const LearnedRatio ratio(json["trials"].get<std::uint32_t>(), std::log(json["ours_over_host"].get<double>()),
                           std::log(json["spread"].get<double>()));
  rows[call] = {ratio, done_by};
  return true;
}

double rounded(double value) { return std::round(value * 1e4) / 1e4; }

ordered_json row_of(const LearnedCall& call, const LearnedRow& row) {
  ordered_json json;
  json["call"] = collective::kind_name(call.kind);
  json["flavor"] = call.flavor;
  if (call.least_bytes >= 0) {
    json["from_bytes"] = call.least_bytes;
    json["to_bytes"] = most_bytes(size_class(call.least_bytes));
  }
  json["ranks"] = call.ranks;
  json["crowded"] = call.crowded;
  json["trials"] = row.ratio.trials();
  json["ours_over_host"] = rounded(std::exp(row.ratio.mean()));
  json["spread"] = rounded(std::exp(row.ratio.deviation()));
  json["done_by"] = !row.done_by                ? ordered_json()
                    : row.done_by == Side::host ? ordered_json("host")
                                                : ordered_json("ours");
  return json;
}

}  // namespace

LearnedRatio::LearnedRatio(std::uint32_t trials, double mean, double deviation)
    : trials_(std::min(trials, most_trials)),
      mean_(mean),
      squares_(trials_ < 2 ? 0 : deviation * deviation * (trials_ - 1)) {}

// Welford's algorithm (Knuth, volume 2, 4.2.2).
void LearnedRatio::add(double logarithm) {
  const double value = std::clamp(logarithm, -most_logarithm, most_logarithm);
  if (trials_ == most_trials) {
    squares_ *= static_cast<double>(most_trials - 1) / most_trials;
    --trials_;
  }
  const double distance = value - mean_;
  mean_ += distance / ++trials_;
  squares_ += distance * (value - mean_);
}

// Chan, Golub and LeVeque, Updating formulae and a pairwise algorithm for computing sample variances, 1979.
void LearnedRatio::merge(const LearnedRatio& other) {
  if (other.trials_ == 0) return;
  const double own = trials_, others = other.trials_, distance = other.mean_ - mean_;
  LearnedRatio both;
  both.mean_ = mean_ + distance * others / (own + others);
  both.squares_ = squares_ + other.squares_ + distance * distance * own * others / (own + others);
  both.trials_ = trials_ + other.trials_;
  *this = both.trials_ <= most_trials ? both : LearnedRatio(both.trials_, both.mean_, both.deviation());
}

double LearnedRatio::deviation() const { return trials_ < 2 ? 0 : std::sqrt(squares_ / (trials_ - 1)); }

double LearnedRatio::standard_error() const {
  return trials_ == 0 ? most_logarithm : std::max(deviation(), least_deviation) / std::sqrt(trials_);
}

std::optional<Side> LearnedRatio::verdict() const {
  if (trials_ < least_trials) return std::nullopt;
  const double error = standard_error();
  if (mean_ > standard_errors * error) return Side::host;
  if (mean_ < -standard_errors * error) return Side::ours;
  return std::nullopt;
}

std::string host_key(std::string_view library_version, int world_ranks) {
  std::string host(library_version.substr(0, library_version.find_first_of(",\n")));
  std::replace(host.begin(), host.end(), '\t', ' ');
  while (host.ends_with(' ')) host.pop_back();
  return fmt::format("{}, {} ranks", host, world_ranks);
}

void merge_learned(LearnedRows& rows, const LearnedRows& more) {
  for (const auto& [call, row] : more) {
    LearnedRow& merged = rows[call];
    merged.ratio.merge(row.ratio);
    merged.done_by = merged.ratio.verdict();
  }
}

Learned read_learned(const ordered_json& json, const std::string& path, std::vector<std::string>& complaints) {
  Learned learned;
  const ordered_json version = json.value("version", ordered_json());
  if (version != MILLRACE_VERSION) {
    complaints.push_back(fmt::format("{}: what was learned is of another version than " MILLRACE_VERSION
                                     " ('millrace learn' learns it again): ignored",
                                     path));
    return learned;
  }
  std::size_t wrong = 0;
  const ordered_json machines = json.value("machines", ordered_json::object()), nothing = ordered_json::object();
  const auto object_or_nothing = [&](const ordered_json& value) -> const ordered_json& {
    wrong += value.is_object() ? 0 : 1;
    return value.is_object() ? value : nothing;
  };
  for (const auto& [machine, hosts] : object_or_nothing(machines).items())
    for (const auto& [host, rows] : object_or_nothing(hosts).items()) {
      wrong += rows.is_array() ? 0 : 1;
      if (!rows.is_array()) continue;
      LearnedRows& known = learned[{machine, host}];
      for (const ordered_json& row : rows) wrong += read_row(row, known) ? 0 : 1;
    }
  if (wrong > 0) complaints.push_back(fmt::format("{}: {} rows of 'learned' are wrong: ignored", path, wrong));
  return learned;
}

void write_learned(const Learned& learned, ordered_json& json) {
  if (learned.empty()) return;
  json["learned"]["version"] = MILLRACE_VERSION;
  ordered_json& machines = json["learned"]["machines"];
  for (const auto& [place, rows] : learned) {
    ordered_json& list = machines[place.machine][place.host] = ordered_json::array();
    for (const auto& [call, row] : rows) list.push_back(row_of(call, row));
  }
}

LearnedSides::LearnedSides(const LearnedRows& rows) {
  for (const auto& [call, row] : rows)
    if (row.done_by)
      sides_.push_back(
          {key_of(call.kind, call.flavor, call.least_bytes, static_cast<std::uint32_t>(call.ranks), call.crowded),
           *row.done_by});
  std::sort(sides_.begin(), sides_.end(), [](const Entry& one, const Entry& other) { return one.key < other.key; });
}

std::optional<Side> LearnedSides::find(const EitherCall& call, std::uint32_t ranks, bool crowded) const {
  const std::uint64_t key = key_of(call.kind, call.flavor, call.bytes, ranks, crowded);
  const auto found = std::lower_bound(sides_.begin(), sides_.end(), key,
                                      [](const Entry& entry, std::uint64_t wanted) { return entry.key < wanted; });
  return found != sides_.end() && found->key == key ? std::optional(found->side) : std::nullopt;
}

}  // namespace millrace::plan
