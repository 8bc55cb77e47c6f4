// Reports of processes that end without MPI_Finalize: by MPI_Abort, by exit(), by a signal. Each says what it has seen
// until then, and that it ended so. Nothing of this is there where no report is asked for.
//
// A report takes memory and locks, which the interrupted thread may hold. So a thread of ours makes it
// (report_helper.h), and who ends waits for it for a limited time: the report may be lost then, the program's end is
// not.
#pragma once

namespace millrace::shim {

// Before MPI_Init and at its end, by one thread; before MPI_Finalize.
void prepare_to_watch_endings() noexcept;
void watch_endings() noexcept;
void forget_endings() noexcept;

// Before the host's MPI_Abort, which may not return.
void aborting() noexcept;

}  // namespace millrace::shim
