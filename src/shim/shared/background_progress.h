// For the thread of background_helper.h.
#pragma once

namespace millrace::shim {

// Moves on what no thread of the program waits for, and what calls nothing of MPI. Whether anything moved.
bool help_background() noexcept;

}  // namespace millrace::shim
