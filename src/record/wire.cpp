// The bytes of a rank record: CBOR, with short keys because rank 0 may hold thousands of them.
//
//   { "v": 7, "id": {...}, "threads": n, "lost": n,
//     "calls": [ [name, bytes, time_ns, [outcome...], [[algorithm, calls, bytes, time_ns]...],
//                 [saved calls, time_ns, error_ns], [[size class, calls, taken, bytes, time_ns]...]]... ],
//     "late": [[rank, calls, wait_ns]...],
//     "waits": [ [call, communicator, compared, time_ns, wait_ns, [[rank, calls, wait_ns]...]]... ],
//     "peers": [[messages, bytes of others], [[rank, messages, bytes]...]],
//     "regions": [unbalanced, [[name, entered, calls, bytes, time_ns, wall_ns]...]],
//     "comms": [[name, ranks, members, size, made, calls, taken, bytes, time_ns]...],
//     "phases": [wall_ns, [[calls, bytes, time_ns]...]] }
#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "record/rank_record.h"
#include "record/size_class.h"

namespace millrace::record {
namespace {

using nlohmann::json;

constexpr std::uint64_t wire_version = 7;

// Refuses bytes nested deeper than a record is, before the recursive decoder sees them: its stack is the program's.
class DepthCheck : public nlohmann::json_sax<json> {
 public:
  bool null() override { return true; }
  bool boolean(bool) override { return true; }
  bool number_integer(number_integer_t) override { return true; }
  bool number_unsigned(number_unsigned_t) override { return true; }
  bool number_float(number_float_t, const string_t&) override { return true; }
  bool string(string_t&) override { return true; }
  bool binary(binary_t&) override { return false; }
  bool key(string_t&) override { return true; }
  bool start_object(std::size_t) override { return ++depth_ <= deepest; }
  bool end_object() override { return --depth_ >= 0; }
  bool start_array(std::size_t) override { return ++depth_ <= deepest; }
  bool end_array() override { return --depth_ >= 0; }
  bool parse_error(std::size_t, const std::string&, const json::exception&) override { return false; }

 private:
  static constexpr int deepest = 5;
  int depth_ = 0;
};

json to_value(const RankIdentity& identity) {
  json settings = json::array();
  for (const auto& [variable, value] : identity.settings) settings.push_back(json::array({variable, value}));
  return {{"rank", identity.rank},       {"ranks", identity.ranks},
          {"host", identity.host},       {"pid", identity.pid},
          {"isa", identity.isa},         {"host_mpi", identity.host_mpi},
          {"variant", identity.variant}, {"settings", std::move(settings)},
          {"wall_ns", identity.wall_ns}, {"ended_by", identity.ended_by}};
}

json to_value(const CallRecord& call) {
  json algorithms = json::array();
  for (const AlgorithmRecord& algorithm : call.algorithms)
    algorithms.push_back(json::array({algorithm.name, algorithm.calls, algorithm.bytes, algorithm.time_ns}));
  json sizes = json::array();
  for (const SizeRecord& size : call.sizes)
    sizes.push_back(json::array({size_class(size.least_bytes), size.calls, size.taken, size.bytes, size.time_ns}));
  return json::array({call.name, call.bytes, call.time_ns, call.outcome, std::move(algorithms),
                      json::array({call.saved.calls, call.saved.time_ns, call.saved.error_ns}), std::move(sizes)});
}

json to_value(std::span<const LateRank> ranks) {
  json values = json::array();
  for (const LateRank& late : ranks) values.push_back(json::array({late.rank, late.calls, late.wait_ns}));
  return values;
}

json to_value(const WaitRecord& wait) {
  return json::array(
      {wait.call, wait.communicator, wait.compared, wait.time_ns, wait.wait_ns, to_value(wait.for_rank)});
}

json to_value(const Peers& peers) {
  json values = json::array();
  for (const PeerCount& to : peers.to) values.push_back(json::array({to.rank, to.messages, to.bytes}));
  return json::array({json::array({peers.others.messages, peers.others.bytes}), std::move(values)});
}

json to_value(const Regions& regions) {
  json values = json::array();
  for (const RegionRecord& region : regions.all)
    values.push_back(
        json::array({region.name, region.entered, region.calls, region.bytes, region.time_ns, region.wall_ns}));
  return json::array({regions.unbalanced, std::move(values)});
}

json to_value(std::span<const CommunicatorRecord> communicators) {
  json values = json::array();
  for (const CommunicatorRecord& one : communicators)
    values.push_back(json::array(
        {one.name, one.ranks, one.members, one.size, one.made, one.calls, one.taken, one.bytes, one.time_ns}));
  return values;
}

json to_value(const Phases& phases) {
  json values = json::array();
  for (const PhaseSlice& slice : phases.slices)
    values.push_back(json::array({slice.calls, slice.bytes, slice.time_ns}));
  return json::array({phases.wall_ns, std::move(values)});
}

// The readers below throw json exceptions on a missing member or a wrong type; unpack() turns them into an error.
std::uint64_t count(const json& value) {
  if (!value.is_number_unsigned()) throw std::invalid_argument("a count is not an unsigned number");
  return value.get<std::uint64_t>();
}

double time_of(const json& value) {
  constexpr double most_ns = 1e18;
  const auto number = value.is_number() ? value.get<double>() : NAN;
  if (!(std::fabs(number) <= most_ns)) throw std::invalid_argument("not a time");
  return number;
}

std::int64_t whole(const json& value, std::int64_t least, std::int64_t most) {
  if (!value.is_number_integer()) throw std::invalid_argument("not a whole number");
  const auto number = value.get<std::int64_t>();
  if (number < least || number > most) throw std::invalid_argument("a number is out of range");
  return number;
}

RankIdentity to_identity(const json& value) {
  RankIdentity identity;
  identity.ranks = static_cast<std::int32_t>(whole(value.at("ranks"), 1, INT32_MAX));
  identity.rank = static_cast<std::int32_t>(whole(value.at("rank"), 0, identity.ranks - 1));
  identity.host = value.at("host").get<std::string>();
  identity.pid = whole(value.at("pid"), 0, INT64_MAX);
  identity.isa = value.at("isa").get<std::string>();
  identity.host_mpi = value.at("host_mpi").get<std::string>();
  identity.variant = value.at("variant").get<std::string>();
  for (const json& pair : value.at("settings"))
    identity.settings.emplace_back(pair.at(0).get<std::string>(), pair.at(1).get<std::string>());
  identity.wall_ns = count(value.at("wall_ns"));
  identity.ended_by = value.at("ended_by").get<std::string>();
  return identity;
}

CallRecord to_call(const json& value) {
  CallRecord call;
  call.name = value.at(0).get<std::string>();
  call.bytes = count(value.at(1));
  call.time_ns = count(value.at(2));
  const json& outcome = value.at(3);
  if (outcome.size() != reason_count) throw std::invalid_argument("the number of reasons differs");
  for (std::size_t reason = 0; reason < reason_count; ++reason) call.outcome[reason] = count(outcome.at(reason));
  for (const json& algorithm : value.at(4))
    call.algorithms.push_back(
        {algorithm.at(0).get<std::string>(), count(algorithm.at(1)), count(algorithm.at(2)), count(algorithm.at(3))});
  const json& saved = value.at(5);
  call.saved = {count(saved.at(0)), time_of(saved.at(1)), time_of(saved.at(2))};
  for (const json& size : value.at(6)) {
    const std::uint64_t its_class = count(size.at(0));
    if (its_class >= size_class_count) throw std::invalid_argument("a size class that there is none of");
    add_size(call.sizes,
             {least_bytes_of(its_class), count(size.at(1)), count(size.at(2)), count(size.at(3)), count(size.at(4))});
  }
  return call;
}

std::vector<LateRank> to_late_ranks(const json& values, std::int32_t ranks) {
  std::vector<LateRank> late;
  for (const json& value : values)
    late.push_back(
        {static_cast<std::int32_t>(whole(value.at(0), 0, ranks - 1)), count(value.at(1)), count(value.at(2))});
  return late;
}

WaitRecord to_wait(const json& value, std::int32_t ranks) {
  WaitRecord wait;
  wait.call = value.at(0).get<std::string>();
  wait.communicator = value.at(1).get<std::string>();
  wait.compared = count(value.at(2));
  wait.time_ns = count(value.at(3));
  wait.wait_ns = count(value.at(4));
  wait.for_rank = to_late_ranks(value.at(5), ranks);
  return wait;
}

Peers to_peers(const json& value, std::int32_t ranks) {
  Peers peers;
  const json& others = value.at(0);
  peers.others = {outside_world, count(others.at(0)), count(others.at(1))};
  for (const json& to : value.at(1)) {
    if (peers.to.size() == most_peers_sent) throw std::invalid_argument("more peers than a rank may name");
    peers.to.push_back({static_cast<std::int32_t>(whole(to.at(0), 0, ranks - 1)), count(to.at(1)), count(to.at(2))});
  }
  return peers;
}

Regions to_regions(const json& value) {
  Regions regions{{}, count(value.at(0))};
  for (const json& one : value.at(1)) {
    if (regions.all.size() == most_regions + 1) throw std::invalid_argument("more regions than a rank may name");
    RegionRecord& region = regions.all.emplace_back();
    region = {one.at(0).get<std::string>(),
              count(one.at(1)),
              count(one.at(2)),
              count(one.at(3)),
              count(one.at(4)),
              count(one.at(5))};
    if (region.name.size() > longest_region_name) throw std::invalid_argument("a region's name is too long");
  }
  return regions;
}

std::vector<CommunicatorRecord> to_communicators(const json& values) {
  std::vector<CommunicatorRecord> communicators;
  for (const json& value : values) {
    if (communicators.size() == most_communicators + 1)
      throw std::invalid_argument("more communicators than a rank may name");
    CommunicatorRecord& one = communicators.emplace_back();
    one = {value.at(0).get<std::string>(),
           value.at(1).get<std::string>(),
           count(value.at(2)),
           count(value.at(3)),
           count(value.at(4)),
           count(value.at(5)),
           count(value.at(6)),
           count(value.at(7)),
           count(value.at(8))};
    if (std::max(one.name.size(), one.ranks.size()) > longest_communicator_text)
      throw std::invalid_argument("a communicator's name is too long");
  }
  return communicators;
}

Phases to_phases(const json& value) {
  Phases phases{count(value.at(0)), {}};
  for (const json& slice : value.at(1))
    phases.slices.push_back({count(slice.at(0)), count(slice.at(1)), count(slice.at(2))});
  if (!phases.slices.empty() && phases.slices.size() != phase_slices)
    throw std::invalid_argument("another number of slices of time");
  return phases;
}

RankRecord to_record(std::span<const std::byte> bytes) {
  const auto* begin = reinterpret_cast<const std::uint8_t*>(bytes.data());
  DepthCheck check;
  if (!json::sax_parse(begin, begin + bytes.size(), &check, json::input_format_t::cbor))
    throw std::invalid_argument("not CBOR, cut short, or nested too deep");
  const json value = json::from_cbor(begin, begin + bytes.size());
  if (count(value.at("v")) != wire_version) throw std::invalid_argument("another version of Millrace wrote it");
  RankRecord record;
  record.identity = to_identity(value.at("id"));
  record.threads = count(value.at("threads"));
  record.lost_calls = count(value.at("lost"));
  for (const json& call : value.at("calls")) record.calls.push_back(to_call(call));
  record.waits.for_rank = to_late_ranks(value.at("late"), record.identity.ranks);
  for (const json& wait : value.at("waits")) record.waits.calls.push_back(to_wait(wait, record.identity.ranks));
  record.peers = to_peers(value.at("peers"), record.identity.ranks);
  record.regions = to_regions(value.at("regions"));
  record.communicators = to_communicators(value.at("comms"));
  record.phases = to_phases(value.at("phases"));
  return record;
}

}  // namespace

std::vector<std::byte> pack(const RankRecord& record) {
  json calls = json::array();
  for (const CallRecord& call : record.calls) calls.push_back(to_value(call));
  json waits = json::array();
  for (const WaitRecord& wait : record.waits.calls) waits.push_back(to_value(wait));
  const json value = {{"v", wire_version},
                      {"id", to_value(record.identity)},
                      {"threads", record.threads},
                      {"lost", record.lost_calls},
                      {"calls", std::move(calls)},
                      {"late", to_value(record.waits.for_rank)},
                      {"waits", std::move(waits)},
                      {"peers", to_value(record.peers)},
                      {"regions", to_value(record.regions)},
                      {"comms", to_value(record.communicators)},
                      {"phases", to_value(record.phases)}};
  const std::vector<std::uint8_t> encoded = json::to_cbor(value);
  const auto* begin = reinterpret_cast<const std::byte*>(encoded.data());
  return {begin, begin + encoded.size()};
}

Status unpack(std::span<const std::byte> bytes, RankRecord& record, std::string& error) noexcept {
  try {
    try {
      record = to_record(bytes);
      return Status::ok;
    } catch (const std::exception& exception) {
      error = exception.what();
      return Status::bad_argument;
    }
  } catch (...) {
    return Status::no_memory;  // not even room for the message
  }
}

}  // namespace millrace::record
