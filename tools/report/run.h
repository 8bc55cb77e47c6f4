// A report that a run has written (docs/report.md), read back from its file.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "tools/report/communicators.h"
#include "tools/report/peers.h"
#include "tools/report/phases.h"
#include "tools/report/regions.h"
#include "tools/report/sizes.h"

namespace millrace::tools {

struct RunSpread {
  double min = 0, median = 0, max = 0;
  std::uint64_t max_rank = 0;
};

struct RunCall {
  std::string name;
  bool is_outside = false;  // of the wall time: initialisation and its end, longer than all else in short jobs
  std::uint64_t calls = 0, bytes = 0, taken = 0;
  double time_ns = 0;  // of all ranks
  RunSpread rank_time_ns;
  std::vector<std::pair<std::string, std::uint64_t>> algorithms;  // calls taken by each, most first
  std::map<std::string, std::uint64_t> why;                       // calls left to the host, by reason
  std::uint64_t saved_calls = 0;                                  // 0: what they saved was not measured
  double saved_ns = 0, error_ns = 0;
  std::vector<RunSize> sizes;  // by least_bytes
};

struct RunLate {
  std::uint64_t rank = 0, calls = 0;  // to which it came last
  double caused_ns = 0, wait_ns = 0;  // of others for it, of its own
};

// Of a collective on a communicator.
struct RunWait {
  std::string name, communicator;
  std::uint64_t compared = 0;
  double time_ns = 0, wait_ns = 0;
  std::vector<RunLate> late;  // who caused most first
};

struct RunRank {
  std::string host;
  double wall_ns = 0, mpi_ns = 0, mpi_share = 0;
};

// No text in it has control characters: what is shown cannot move a terminal's cursor.
struct Run {
  std::string file, version;
  std::uint64_t ranks = 0, hosts = 0;  // of the job
  std::string host_mpi, preload, isa;  // of the first rank that has a record
  RunSpread wall_ns, mpi_share;
  RunCall total;
  std::vector<RunCall> calls;                  // longest first
  std::vector<RunLate> late;                   // who caused most first
  std::vector<RunWait> waits;                  // longest first
  std::vector<RunCommunicator> communicators;  // longest first, what is left of many last
  RunPeers peers;
  RunPhases phases;
  RunRegions regions;
  std::map<std::uint64_t, RunRank> by_rank;  // those whose record arrived
  std::map<std::string, std::string> settings;
  std::vector<std::string> notes;
};

// False: `error` is one line without the file's name.
bool read_run(const std::string& file, Run& run, std::string& error);

// Words for both views.
std::string ranks_and_hosts(const Run& run);  // "512 ranks on 8 hosts"
std::string inside_mpi_in_words(const Run& run);
std::string reason_in_words(const std::string& name);
std::string taken_in_words(const RunCall& call);  // "97 %", "-"
std::string saved_in_words(const RunCall& call);  // "" if it was not measured
std::string late_in_words(const RunWait& wait);   // "rank 3, 95 %", "-"
// What more there is to say of a call: of which sizes, by what it was taken, why it was not, what that saved.
std::vector<std::string> details_of(const RunCall& call);

}  // namespace millrace::tools
