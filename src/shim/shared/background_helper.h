// A thread that moves nonblocking collectives on while the program computes, or waits in a call of the host in which we
// are not asked: their ranks may wait for this one. It calls nothing of MPI, and does nothing while the program's own
// threads see to them.
#pragma once

namespace millrace::shim {

// Starts the thread, once; false: it cannot be had, and then nothing may be begun in the background. One at a time.
bool have_background_helper() noexcept;
void end_background_helper() noexcept;

// The program's own threads have moved calls on, or have begun one.
void note_background_advance() noexcept;

}  // namespace millrace::shim
