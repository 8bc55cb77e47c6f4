// The file behind a board: locking, and what killed jobs have left.
#pragma once

#include <string>

namespace millrace::node {

// Locks a file for its holder alone; waits a few seconds for one who has it. The lock goes with the descriptor.
bool lock_file(int file);

// A copy of a descriptor where programs that close theirs by number rarely come by. -1 if there is none.
int keep_descriptor(int descriptor);

// Removes files of boards in this directory whose ranks are all gone, but for `own`.
void remove_abandoned_files(int directory, const std::string& own);

}  // namespace millrace::node
