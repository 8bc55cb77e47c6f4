// The report of a run: the records of all ranks merged, and its two forms. The meaning of every number is in
// docs/report.md, the JSON's shape in docs/report.schema.json.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "record/communicators_report.h"
#include "record/peers_report.h"
#include "record/phases_report.h"
#include "record/rank_record.h"
#include "record/regions_report.h"

namespace millrace::record {

inline constexpr int report_schema_version = 1;

// Over ranks; a rank that never made the call counts with 0.
struct Spread {
  double min = 0;
  double median = 0;  // the mean of the middle two for an even number of ranks
  double max = 0;
  std::int32_t max_rank = 0;  // the lowest rank that has the maximum
};

struct CallReport {
  CallRecord sum;  // over ranks
  Spread time_ns;
  std::uint64_t ranks = 0;  // that made the call
};

// Of all of them: errors of different calls are independent.
SavedTime saved_by(std::span<const CallReport> calls);

// Waiting for one rank, as all others saw it, and its own.
struct LateReport {
  std::int32_t rank = 0;
  std::uint64_t calls = 0;      // to which it came last, of those that others had to wait for
  std::uint64_t caused_ns = 0;  // of the others, for it
  std::uint64_t wait_ns = 0;    // of its own, for others
};

struct WaitReport {
  WaitRecord sum;                   // over ranks, without for_rank; `compared`: the most that a rank has
  std::vector<LateReport> by_rank;  // the foremost of them
};

struct RankReport {
  RankIdentity identity;
  std::uint64_t threads = 0;
  std::uint64_t lost_calls = 0;
  std::uint64_t time_ns = 0;  // inside MPI after initialisation, summed over threads
  double mpi_share = 0;       // time_ns of wall_ns
};

struct Report {
  std::int32_t ranks = 0;           // in MPI_COMM_WORLD
  std::vector<RankReport> by_rank;  // those whose record arrived, by rank
  std::vector<CallReport> calls;    // longest total time first
  std::vector<LateReport> late;     // who caused most first; only ranks that waited or were waited for
  std::vector<WaitReport> waits;    // longest wait first
  PeersReport peers;
  RegionsReport regions;
  std::vector<CommunicatorReport> communicators;
  PhasesReport phases;
  std::uint64_t hosts = 0;
  Spread wall_ns;
  Spread time_ns;
  Spread mpi_share;
  std::vector<std::string> notes;  // one line each: what a reader should know before comparing numbers
};

Report merge(std::span<const RankRecord> records);

std::string to_json(const Report& report);
std::string to_table(const Report& report);  // lines of at most 100 columns

// Where a report goes; both at once if asked for.
struct Destination {
  bool table = false;  // on standard error
  std::string file;    // as JSON; "" for none
};

// On rank 0: merges the bytes of all ranks and shows them. A file that was there before this process wrote one of its
// name is kept under a name with a number, and one line says so. What a file cannot take goes to standard error as a
// table, behind one line with the reason. Never throws.
Status publish(std::span<const std::vector<std::byte>> ranks, const Destination& destination) noexcept;

}  // namespace millrace::record
