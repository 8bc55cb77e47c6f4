// Reports of processes that end without MPI_Finalize: by MPI_Abort, by exit(), by a signal that ends them. Each says
// what it has seen until then, and that it ended so. Nothing of this is there where no report is asked for.
//
// A handler of a signal may find any lock held. So one that does not come to its end within seconds is ended by the
// signal as it would have been: the report is lost then, the program's end is not.
#pragma once

namespace millrace::shim {

// At the end of MPI_Init, by one thread; before MPI_Finalize.
void watch_endings() noexcept;
void forget_endings() noexcept;

// Before the host's MPI_Abort, which may not return.
void aborting() noexcept;

}  // namespace millrace::shim
