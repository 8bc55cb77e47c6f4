// Errors that a host does not return. A call of MPICH 5's fails, the program's own error handler hears of it and
// returns, and the call returns success: whoever counts calls by their results would count it.
#pragma once

#include "shim/bind/word.h"

namespace millrace::shim {

// Asks the host, on our own communicator, after prepare_host_progress(). By one thread, before the first collective.
void find_hidden_errors();

bool host_hides_errors();

// Whether a call on `comm` that returns success may have failed. Nothing but one load on hosts that return errors.
bool may_hide_errors(Word comm);

}  // namespace millrace::shim
