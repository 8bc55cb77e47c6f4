// What a rank that waits in a collective of ours does for the host MPI: messages that it has under way move on, so that
// a peer that receives before its own MPI_Barrier gets them (the progress rule of MPI).
#pragma once

#include "shim/bind/word.h"

namespace millrace::shim {

// After MPI_Init, by one thread. Local. False without a quiet communicator.
bool prepare_host_progress();
void forget_host_progress();

// One look. Thread-safe as far as the host's thread level is: called from inside the program's own MPI calls only.
// Returns false if the host fails.
bool drive_host(void*);

// What drive_host() does besides, for calls of ours that are under way; null: nothing.
void also_drive(void (*own)());

}  // namespace millrace::shim
