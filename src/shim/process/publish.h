// The report at the end: the records of all ranks brought to rank 0, by the host MPI, and handed to src/record.
#pragma once

#include <cstdint>

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

// For a rank that ends without MPI_Finalize. At the end of MPI_Init.
void prepare_for_endings();
enum class Ending : std::uint8_t {
  of_one,    // of this rank, which says so at once
  with_all,  // most likely of all ranks, whose last one reports of all
  perhaps    // somebody handles the signal, and may go on
};
// `how`: "MPI_Abort". Calls nothing of MPI. May throw.
void publish_ending(const char* how, Ending ending);

// What this process has recorded so far, while it runs. May throw std::bad_alloc.
record::RankRecord record_until_now();

}  // namespace millrace::shim
