// What the reports of one run say, those of all its nodes taken together (docs/report.md says what the figures mean).
#pragma once

#include <cstdint>
#include <map>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>
#include <vector>

namespace millrace::tools {

struct ExaminedCall {
  std::string name;
  std::uint64_t calls = 0, taken = 0;
  std::uint64_t ranks = 0;                 // that made it
  std::int64_t time_ns = 0;                // of all ranks
  std::int64_t taken_ns = 0;               // of that, in calls that we did, as far as algorithms are told apart
  std::int64_t least_ns = 0, most_ns = 0;  // in one rank
  std::uint64_t most_rank = 0;
  std::map<std::string, std::uint64_t> why;  // calls left to the host, by the report's name of the reason
  std::uint64_t saved_calls = 0;             // 0: what they saved was not measured
  std::int64_t saved_ns = 0, error_ns = 0;

  // What the host's part took at most.
  std::int64_t left_ns() const { return time_ns > taken_ns ? time_ns - taken_ns : 0; }
};

struct Examined {
  std::uint64_t ranks = 0;                       // of the job
  std::map<std::uint64_t, std::string> node_of;  // of each rank that has a record
  std::string host_mpi;                          // "Open MPI v4.1.4"
  std::int64_t wall_ns = 0;                      // of the rank that took longest
  std::int64_t ranks_ns = 0, mpi_ns = 0;         // of all ranks: their whole time, and inside MPI
  std::int64_t least_mpi_ns = 0;                 // inside MPI, of the rank that spends least there
  std::vector<ExaminedCall> calls;               // longest first; without initialisation and its end
  std::map<std::string, std::string> settings;   // in force
  std::vector<std::string> notes;
  bool tells_of_other_nodes = false;  // a report's file is called after its node

  std::uint64_t arrived() const { return node_of.size(); }
  // Ranks of each node, by its name.
  std::map<std::string, std::vector<std::uint64_t>> nodes() const;
  std::string setting(std::string_view variable) const;  // "" if unknown
};

Examined examine(const std::vector<nlohmann::json>& reports);

}  // namespace millrace::tools
