// A thread that sleeps until this process ends without MPI_Finalize, and then makes its report.
#pragma once

#include "shim/process/publish.h"

namespace millrace::shim {

// False: no thread can be had. By one thread.
bool start_report_helper() noexcept;
void end_report_helper() noexcept;
bool has_report_helper() noexcept;

// Has the thread report, once in a process unless it is `perhaps`, and waits until it has, but not for ever. `how`
// stays as it is. May be called by a handler of a signal.
void report_ending(const char* how, Ending ending) noexcept;

// By the thread itself, in which something went wrong: nobody waits for it any more.
void give_report_up() noexcept;

}  // namespace millrace::shim
