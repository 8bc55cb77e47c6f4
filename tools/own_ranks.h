// Ranks that are this command itself, started by a launcher of the user's: how they get behind the preload and to the
// MPI of that launcher, without being linked to any.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "tools/mpi_library.h"

namespace millrace::tools {

// Starts this command anew in place of this process, under the preload, with `words` (argv[1] and on), the word of the
// ABI and the library's path. Which MPI: `mpi` as in --mpi, or the launcher above. Returns only with a complaint.
std::string restart_under_preload(std::vector<std::string> words, const std::optional<std::string>& mpi);

// After that: makes the host's functions known to all that is loaded later. A complaint, or "".
std::string load_host(const std::string& library);

}  // namespace millrace::tools
