// `millrace bench`: MPI_X, Millrace's, and PMPI_X, the host's own, in turns under a launcher of the user's
// (docs/bench.md).
#pragma once

#include <optional>
#include <string>

namespace millrace::tools {

// `arguments`: "bench" and what follows it, ended by null; `mpi`: what was said before it.
int bench_command(char** arguments, std::optional<std::string> mpi);

}  // namespace millrace::tools
