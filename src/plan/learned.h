// What `millrace learn` has found out about a program's calls, for later runs: which of them the host does faster than
// we, and which it does not. The part "learned" of the tuning table (tuning.h):
//
//   "learned": {"version": "0.1.0",
//               "machines": {"AMD EPYC (family 25, model 17), 2 processors": {"Open MPI v4.1.4, 4 ranks": [
//                 {"call": "allreduce", "flavor": 2, "from_bytes": 4096, "to_bytes": 5119, "ranks": 4, "crowded":
//                 false,
//                  "trials": 9, "ours_over_host": 1.31, "spread": 1.05, "done_by": "host"}, ...]}}}
//
// A row holds where it was learned: on a machine of the same kind, with the same host, in jobs of as many ranks. Fixed
// before a run, so it may decide about calls whose bits depend on who does them. What counts is "done_by" ("ours",
// "host", or nothing while that is not known); the other figures say why and are what further runs are merged with.
#pragma once

#include <cstdint>
#include <map>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "plan/evidence.h"

namespace millrace::plan {

// Calls that are chosen for together, on communicators that are alike.
struct LearnedCall {
  collective::Kind kind{};
  std::uint8_t flavor = 0;
  std::int64_t least_bytes = -1;  // of the class of sizes; -1: any
  std::int32_t ranks = 0;         // of the communicator
  bool crowded = false;           // some rank of it has no core of its own
  auto operator<=>(const LearnedCall&) const = default;
};

// Trials so far: the natural logarithm of our time over the host's.
class LearnedRatio {
 public:
  LearnedRatio() = default;
  LearnedRatio(std::uint32_t trials, double mean, double deviation);
  void add(double logarithm);
  void merge(const LearnedRatio& other);

  std::uint32_t trials() const { return trials_; }
  double mean() const { return mean_; }
  double deviation() const;
  double standard_error() const;  // of the mean
  // Whose side it takes; nothing while the trials are few, or speak for neither.
  std::optional<Side> verdict() const;

 private:
  // Old trials count as so many at most: machines and programs change.
  static constexpr std::uint32_t most_trials = 100;

  std::uint32_t trials_ = 0;
  double mean_ = 0, squares_ = 0;  // of the distances from the mean
};

struct LearnedRow {
  LearnedRatio ratio;
  std::optional<Side> done_by;
};
using LearnedRows = std::map<LearnedCall, LearnedRow>;

struct LearnedPlace {
  std::string machine;  // machine_name()
  std::string host;     // and ranks: host_key()
  auto operator<=>(const LearnedPlace&) const = default;
};
// "Open MPI v4.1.4, 4 ranks": of the text of MPI_Get_library_version, and of MPI_COMM_WORLD's size.
std::string host_key(std::string_view library_version, int world_ranks);

using Learned = std::map<LearnedPlace, LearnedRows>;

// Adds what one run has shown; verdicts of what it touches are given anew.
void merge_learned(LearnedRows& rows, const LearnedRows& more);

// From and to the table. Reading never fails: what is wrong is left out and named in `complaints`.
Learned read_learned(const nlohmann::ordered_json& json, const std::string& path, std::vector<std::string>& complaints);
void write_learned(const Learned& learned, nlohmann::ordered_json& json);

// Verdicts of one place, to be asked in every call.
class LearnedSides {
 public:
  LearnedSides() = default;
  explicit LearnedSides(const LearnedRows& rows);

  bool empty() const { return sides_.empty(); }
  std::size_t size() const { return sides_.size(); }
  // Nothing if it was not learned. Of MPI_Bcast, whose bytes may differ among ranks, whatever they are.
  std::optional<Side> find(const EitherCall& call, std::uint32_t ranks, bool crowded) const;

 private:
  struct Entry {
    std::uint64_t key;
    Side side;
  };
  std::vector<Entry> sides_;  // by key
};

}  // namespace millrace::plan
