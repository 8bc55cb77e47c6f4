// What one rank says about itself at finalisation, as a value and as bytes that travel to rank 0.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/status.h"
#include "record/communicators.h"
#include "record/peers.h"
#include "record/phases.h"
#include "record/record.h"
#include "record/regions.h"

namespace millrace::record {

// Names behind the indices of add_call(). `entry[i]` is "MPI_Send"; `algorithm(i)` is "sum_f64".
struct Names {
  std::span<const char* const> entry;
  const char* (*algorithm)(std::uint16_t) = nullptr;
};

struct RankIdentity {
  std::int32_t rank = 0;
  std::int32_t ranks = 1;  // in MPI_COMM_WORLD
  std::string host;        // name of the node
  std::int64_t pid = 0;
  std::string isa;                                            // unit of kernels in use: "avx512"
  std::string host_mpi;                                       // MPI_Get_library_version; its first line is kept
  std::string variant;                                        // preload in use: "openmpi-5.0"
  std::vector<std::pair<std::string, std::string>> settings;  // in force: {"MILLRACE_ISA", "auto"}
  std::uint64_t wall_ns = 0;                                  // from the end of MPI_Init to MPI_Finalize
  std::string ended_by;                                       // what came instead of MPI_Finalize: "MPI_Abort"
};

struct AlgorithmRecord {
  std::string name;
  std::uint64_t calls = 0;
  std::uint64_t bytes = 0;
  std::uint64_t time_ns = 0;
};

// Calls that post about so many bytes.
struct SizeRecord {
  std::uint64_t least_bytes = 0;  // of the class (size_class.h)
  std::uint64_t calls = 0;
  std::uint64_t taken = 0;
  std::uint64_t bytes = 0;
  std::uint64_t time_ns = 0;

  bool operator==(const SizeRecord&) const = default;
};
// Adds one to a list by size.
void add_size(std::vector<SizeRecord>& sizes, const SizeRecord& size);

// What calls that Millrace took have saved, against the host's time for calls alike that was measured in the job: time
// that ranks spend in them beyond waiting for others.
struct SavedTime {
  std::uint64_t calls = 0;  // taken, and something is known
  double time_ns = 0;       // negative: the host would have been faster
  double error_ns = 0;      // standard error
};

struct CallRecord {
  std::string name;
  std::uint64_t bytes = 0;
  std::uint64_t time_ns = 0;                          // summed over the threads of the rank
  std::array<std::uint64_t, reason_count> outcome{};  // [none] is the number taken
  std::vector<AlgorithmRecord> algorithms;
  SavedTime saved;
  std::vector<SizeRecord> sizes;  // by least_bytes

  std::uint64_t calls() const;
  std::uint64_t taken() const { return outcome[0]; }
};

// Calls of this rank for which another one came late.
struct LateRank {
  std::int32_t rank = 0;      // in MPI_COMM_WORLD
  std::uint64_t calls = 0;    // to which it came last, and this rank first: so each call is counted by one
  std::uint64_t wait_ns = 0;  // of this rank, for it

  bool operator==(const LateRank&) const = default;
};

// What this rank waited in one collective on one communicator, or on those that have the same ranks.
struct WaitRecord {
  std::string call;                // "MPI_Allreduce"
  std::string communicator;        // "MPI_COMM_WORLD", "ranks 0-3"
  std::uint64_t compared = 0;      // calls whose ranks' times are known
  std::uint64_t time_ns = 0;       // inside these
  std::uint64_t wait_ns = 0;       // of that, until the last rank came
  std::vector<LateRank> for_rank;  // the foremost

  bool operator==(const WaitRecord&) const = default;
};

// The same of all its collectives.
struct Waits {
  std::vector<LateRank> for_rank;  // all there are, by rank
  std::vector<WaitRecord> calls;

  bool operator==(const Waits&) const = default;
};
// Of all ranks: what each of several has, added up.
std::vector<LateRank> by_rank(std::span<const WaitRecord> calls);
// Leaves those for which this rank waited most, and those that came last most often.
void keep_foremost(std::vector<LateRank>& ranks);

struct RankRecord {
  RankIdentity identity;
  std::uint64_t threads = 0;
  std::uint64_t lost_calls = 0;
  std::vector<CallRecord> calls;
  Waits waits;
  Peers peers;
  Regions regions;
  std::vector<CommunicatorRecord> communicators;  // most_communicators and others
  Phases phases;
};

// Of one entry.
struct EntrySaving {
  std::uint16_t entry = 0;
  SavedTime saved;
};

// What others have found out of this rank's calls. Of each entry at most one saving.
struct Findings {
  std::vector<EntrySaving> savings;
  Waits waits;
};

// This process now. `ns_per_tick` comes from a TickScale made at initialisation.
RankRecord this_rank(const RankIdentity& identity, const Names& names, const Findings& findings, double ns_per_tick);

std::vector<std::byte> pack(const RankRecord& record);

// `record` is set only on success; otherwise `error` is one line that says what is wrong with the bytes. Never throws.
Status unpack(std::span<const std::byte> bytes, RankRecord& record, std::string& error) noexcept;

// Both steps for the shim, which sends the bytes to rank 0: empty if there is no memory for them. Never throws.
std::vector<std::byte> pack_rank_record(const RankIdentity& identity, const Names& names, const Findings& findings,
                                        double ns_per_tick) noexcept;

}  // namespace millrace::record
