#include "tools/report/run.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <cmath>
#include <cstring>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string_view>

#include "record/record.h"
#include "record/report.h"
#include "record/units.h"
#include "tools/report/values.h"

namespace millrace::tools {
namespace {

using nlohmann::json;
using record::percent;
using record::scaled_count;
using record::scaled_time;

constexpr std::string_view outside[] = {"MPI_Init", "MPI_Init_thread", "MPI_Finalize"};

RunSpread spread_of(const json& value) {
  return {value.at("min").get<double>(), value.at("median").get<double>(), value.at("max").get<double>(),
          count_of(value.at("max_rank"))};
}

// What a call and the total of all have in common.
RunCall sum_of(const json& value) {
  RunCall sum;
  sum.calls = count_of(value.at("calls"));
  sum.bytes = count_of(value.at("bytes"));
  sum.taken = count_of(value.at("taken"));
  sum.time_ns = value.at("time_ns").get<double>();
  const json& saved = value.at("saved");
  sum.saved_calls = count_of(saved.at("calls"));
  sum.saved_ns = saved.at("time_ns").get<double>();
  sum.error_ns = saved.at("error_ns").get<double>();
  return sum;
}

RunCall call_of(const json& value) {
  RunCall call = sum_of(value);
  call.name = text_of(value, "name");
  call.is_outside = std::ranges::find(outside, call.name) != std::end(outside);
  call.rank_time_ns = spread_of(value.at("rank_time_ns"));
  for (const json& algorithm : value.at("algorithms"))
    call.algorithms.emplace_back(text_of(algorithm, "name"), count_of(algorithm.at("calls")));
  for (const auto& [reason, calls] : value.at("forwarded_why").items())
    call.why[without_controls(reason)] = count_of(calls);
  call.sizes = sizes_of(value);
  return call;
}

void read_ranks(const json& ranks, Run& run) {
  for (const json& rank : ranks) {
    if (run.by_rank.empty()) {
      const std::string host_mpi = text_of(rank, "host_mpi");
      run.host_mpi = host_mpi.substr(0, host_mpi.find(','));
      run.preload = text_of(rank, "preload");
      run.isa = text_of(rank, "isa");
    }
    run.by_rank[count_of(rank.at("rank"))] = {text_of(rank, "host"), rank.at("wall_ns").get<double>(),
                                              rank.at("mpi_ns").get<double>(), rank.at("mpi_share").get<double>()};
  }
}

RunLate late_of(const json& value) {
  RunLate late{count_of(value.at("rank")), count_of(value.at("late_calls")), value.at("caused_ns").get<double>(), 0};
  if (const auto own = value.find("wait_ns"); own != value.end()) late.wait_ns = own->get<double>();
  return late;
}

// Reports of older versions have none of these.
void read_waits(const json& value, Run& run) {
  if (const auto late = value.find("late_ranks"); late != value.end())
    for (const json& rank : *late) run.late.push_back(late_of(rank));
  if (const auto waits = value.find("waits"); waits != value.end())
    for (const json& wait : *waits) {
      RunWait& one = run.waits.emplace_back();
      one.name = text_of(wait, "name");
      one.communicator = text_of(wait, "communicator");
      one.compared = count_of(wait.at("compared"));
      one.time_ns = wait.at("time_ns").get<double>();
      one.wait_ns = wait.at("wait_ns").get<double>();
      for (const json& rank : wait.at("late_ranks")) one.late.push_back(late_of(rank));
    }
}

void read_all(const json& value, Run& run) {
  run.version = text_of(value, "millrace");
  run.ranks = count_of(value.at("ranks"));
  run.hosts = count_of(value.at("hosts"));
  run.wall_ns = spread_of(value.at("wall_ns"));
  run.mpi_share = spread_of(value.at("mpi_share"));
  run.total = sum_of(value.at("total"));
  for (const json& call : value.at("calls")) run.calls.push_back(call_of(call));
  read_ranks(value.at("by_rank"), run);
  read_waits(value, run);
  run.communicators = communicators_of(value, run.ranks);
  run.phases = phases_of(value, run.ranks);
  run.peers = peers_of(value, run.ranks);
  run.regions = regions_of(value, run.ranks);
  for (const auto& [variable, setting] : value.at("settings").items())
    run.settings[without_controls(variable)] = without_controls(setting.get<std::string>());
  for (const json& note : value.at("notes")) run.notes.push_back(without_controls(note.get<std::string>()));
}

std::string counted(std::uint64_t count, const char* thing) {
  return fmt::format("{} {}{}", count, thing, count == 1 ? "" : "s");
}

}  // namespace

bool read_run(const std::string& file, Run& run, std::string& error) {
  errno = 0;
  std::ifstream stream(file, std::ios::binary);
  std::ostringstream text;
  if (stream) text << stream.rdbuf();
  if (!stream || (text.fail() && errno != 0)) {  // a directory can be opened, and fails later
    error = fmt::format("cannot be read: {}", std::strerror(errno ? errno : EIO));
    return false;
  }
  const json value = json::parse(text.str(), nullptr, false);
  if (value.is_discarded() && text.str().find("\"millrace-report\"") != std::string::npos) {
    error = "begins as a report and is cut short or damaged: copy it anew; a run writes it whole or not at all";
    return false;
  }
  if (value.is_discarded() || !value.is_object() || !value.contains("schema") || value["schema"] != "millrace-report") {
    error = "is no report: MILLRACE_REPORT=FILE.json writes one";
    return false;
  }
  if (!value.contains("schema_version") || value["schema_version"] != record::report_schema_version) {
    error = fmt::format("is a report of version {}, this millrace reads version {}: use the millrace that wrote it",
                        value.contains("schema_version") ? value["schema_version"].dump() : "?",
                        record::report_schema_version);
    error = without_controls(error);
    return false;
  }
  try {
    read_all(value, run);
  } catch (const std::exception& wrong) {  // of the library, too
    error = fmt::format("is not as docs/report.schema.json has it: {}", without_controls(wrong.what()));
    return false;
  }
  run.file = without_controls(file);
  return true;
}

std::string ranks_and_hosts(const Run& run) {
  return fmt::format("{} on {}", counted(run.ranks, "rank"), counted(run.hosts, "host"));
}

std::string inside_mpi_in_words(const Run& run) {
  if (run.by_rank.size() < 2) return fmt::format("inside MPI {} of the wall time", percent(run.mpi_share.max));
  return fmt::format("inside MPI {} of the wall time (median over ranks), {} to {} on rank {}",
                     percent(run.mpi_share.median), percent(run.mpi_share.min), percent(run.mpi_share.max),
                     run.mpi_share.max_rank);
}

std::string reason_in_words(const std::string& name) {
  for (std::size_t reason = 1; reason < record::reason_count; ++reason)
    if (name == record::reason_name(static_cast<record::Reason>(reason)))
      return record::reason_text(static_cast<record::Reason>(reason));
  return name;
}

std::string taken_in_words(const RunCall& call) {
  return call.taken == 0 || call.calls == 0
             ? "-"
             : percent(static_cast<double>(call.taken) / static_cast<double>(call.calls));
}

std::string saved_in_words(const RunCall& call) {
  if (call.saved_calls == 0) return {};
  return fmt::format("saved: {}{} (+- {}) in {} calls", call.saved_ns < 0 ? "-" : "",
                     scaled_time(std::fabs(call.saved_ns)), scaled_time(call.error_ns), scaled_count(call.saved_calls));
}

std::string late_in_words(const RunWait& wait) {
  if (wait.late.empty() || wait.wait_ns <= 0) return "-";
  const RunLate& first = wait.late.front();
  return fmt::format("rank {}, {}", first.rank, percent(first.caused_ns / wait.wait_ns));
}

std::vector<std::string> details_of(const RunCall& call) {
  std::vector<std::string> lines, items;
  if (std::string sizes = sizes_in_words(call.sizes); !sizes.empty()) lines.push_back(std::move(sizes));
  std::uint64_t named = 0;
  for (const auto& [name, calls] : call.algorithms) {
    named += calls;
    items.push_back(fmt::format("{} {}", name, scaled_count(calls)));
  }
  if (named < call.taken) items.push_back(fmt::format("other {}", scaled_count(call.taken - named)));
  if (!items.empty()) lines.push_back(fmt::format("taken: {}", fmt::join(items, ", ")));
  items.clear();
  // That there is no algorithm for a call is what a '-' under "taken" means.
  const bool is_plain = call.taken == 0 && call.why.size() == 1 && call.why.contains("not_accelerated");
  for (const auto& [reason, calls] : call.why)
    items.push_back(fmt::format("{} {}", reason_in_words(reason), scaled_count(calls)));
  if (!items.empty() && !is_plain) lines.push_back(fmt::format("forwarded: {}", fmt::join(items, ", ")));
  if (std::string saved = saved_in_words(call); !saved.empty()) lines.push_back(std::move(saved));
  return lines;
}

}  // namespace millrace::tools
