// What a rank that waits in a collective of ours does for the host MPI: messages that it has under way move on, so that
// a peer that receives before its own MPI_Barrier gets them (the progress rule of MPI).
#pragma once

#include "shim/bind/word.h"

namespace millrace::shim {

// Duplicates MPI_COMM_SELF, for a question that concerns nothing of the program's. Local. After MPI_Init, by one
// thread.
bool prepare_host_progress();
void forget_host_progress();

// One look. Thread-safe as far as the host's thread level is: called from inside the program's own MPI calls only.
// Returns false if the host fails.
bool drive_host(void*);

// What drive_host() does besides, for calls of ours that are under way; null: nothing.
void also_drive(void (*own)());

// The duplicate of MPI_COMM_SELF, where errors are returned.
Word quiet_comm();

// Whether the host accepts a datatype in calls that move data: it packs no element of it there. False also where
// collectives in shared memory, and so that communicator, are not in use.
bool is_committed(Word datatype);

}  // namespace millrace::shim
