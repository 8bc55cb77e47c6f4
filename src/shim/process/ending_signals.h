// The signals that end a program, seen before they do. Handlers that the program has stay its own: they run after ours,
// and those that it sets later run instead. What the signal does to the process in the end is what it did before.
#pragma once

namespace millrace::shim {

// Before MPI_Init: who handles a signal now is the program; who is found to handle it afterwards is the host, whose
// handlers say where the process ends and let it end.
void note_own_handlers() noexcept;
void watch_signals() noexcept;
void leave_signals() noexcept;

// Called by the thread that makes the report: what goes wrong in it ends the report, not the program.
void in_report_helper() noexcept;

}  // namespace millrace::shim
