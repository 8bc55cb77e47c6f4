// The report at the end: the records of all ranks brought to rank 0, by the host MPI, and handed to src/record.
#pragma once

#include "record/rank_record.h"

namespace millrace::shim {

// Collective over MPI_COMM_WORLD; called just before the host's MPI_Finalize. An error is one line, never a failure
// of the program.
void publish_world();

// On the first rank, when it begins: says in one line if the file that was asked for could not be written now. A long
// run should not end with that.
void check_report_file();

// For a process without a world (the sessions model): its own record only.
void publish_process();

// What this process has recorded so far, while it runs. May throw std::bad_alloc.
record::RankRecord record_until_now();

}  // namespace millrace::shim
