// MPI_Start, MPI_Startall and MPI_Request_free where some request is that of a persistent collective that may be ours.
//
// The request is the host's own. Each start is either ours, and then the host's request stays inactive, or the host's:
// which is settled by the number of starts of that collective, and so by all ranks alike.
#pragma once

#include <span>

#include "shim/shared/background_requests.h"

namespace millrace::shim {

Word start_persistent(Symbol symbol, std::span<Word> words, AsUsual usual);
Word startall_persistent(Symbol symbol, std::span<Word> words, AsUsual usual);
Word request_free_persistent(Symbol symbol, std::span<Word> words, AsUsual usual);

}  // namespace millrace::shim
