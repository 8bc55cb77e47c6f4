// The calls that complete requests, or ask about them, when some of them are ours (MPI 4.1, 3.7.3 to 3.7.5).
#pragma once

#include "shim/packed/layout_call.h"

namespace millrace::shim {

// Positions of words; `none` where an entry lacks the argument. `frees`: completion ends a request that is not
// persistent, which is not so for MPI_Request_get_status and its relatives.
struct CompletionPlaces {
  static constexpr std::size_t none = ~std::size_t{0};
  std::size_t flag, status;
  bool frees;
};

Word complete_one(HostCall call, const CompletionPlaces& places);   // request first
Word complete_all(HostCall call, const CompletionPlaces& places);   // count, requests
Word complete_any(HostCall call, const CompletionPlaces& places);   // count, requests, index
Word complete_some(HostCall call, const CompletionPlaces& places);  // count, requests, outcount, indices

}  // namespace millrace::shim
