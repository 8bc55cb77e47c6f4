// What the environment tells about the MPI that a program will run on, and about its rank: the variables that
// launchers leave behind for the processes they start.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tools/mpi_library.h"

namespace millrace::tools {

// An environ-style array ended by a null pointer, read only.
class Environment {
 public:
  explicit Environment(const char* const* entries) : entries_(entries) {}
  std::optional<std::string_view> get(std::string_view variable) const;
  const char* const* entries() const { return entries_; }

 private:
  const char* const* entries_;
};

struct EnvironmentHint {
  Abi abi = Abi::unknown;
  std::string reason;                 // "OMPI_COMM_WORLD_SIZE is set by Open MPI's mpirun"
  std::vector<std::string> prefixes;  // where that MPI may be installed
};

// Slurm's own PMI and PMIx say nothing: every MPI can be started with them.
EnvironmentHint hint_from_environment(const Environment& environment);

// The rank in MPI_COMM_WORLD that the program will have, if a launcher says so.
std::optional<int> rank_from_environment(const Environment& environment);

}  // namespace millrace::tools
