// What a Millrace function answers. Nothing here throws: these values cross into MPI programs.
#pragma once

namespace millrace {

enum class Status {
  ok,
  not_supported,  // the caller hands the work to the host MPI
  bad_argument,
  no_memory,
  system_error,
};

}  // namespace millrace
