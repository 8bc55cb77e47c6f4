// The calls that complete requests, or ask about them, when some of them are ours (MPI 4.1, 3.7.3 to 3.7.5).
#pragma once

#include "positions.h"
#include "shim/packed/host_call.h"

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

template <class Place, bool frees>
constexpr CompletionPlaces places_of() {
  CompletionPlaces places{CompletionPlaces::none, 0, frees};
  if constexpr (requires { Place::flag; }) places.flag = Place::flag;
  if constexpr (requires { Place::status; })
    places.status = Place::status;
  else
    places.status = Place::array_of_statuses;
  return places;
}
template <Word (*complete)(HostCall, const CompletionPlaces&), class Place, bool frees = true>
Word completed(HostCall call) {
  return complete(call, places_of<Place, frees>());
}

inline constexpr HostCallFunction complete_wait = completed<complete_one, at::Wait>;
inline constexpr HostCallFunction complete_test = completed<complete_one, at::Test>;
inline constexpr HostCallFunction complete_get_status = completed<complete_one, at::Request_get_status, false>;
inline constexpr HostCallFunction complete_waitall = completed<complete_all, at::Waitall>;
inline constexpr HostCallFunction complete_testall = completed<complete_all, at::Testall>;
inline constexpr HostCallFunction complete_get_status_all = completed<complete_all, at::Request_get_status_all, false>;
inline constexpr HostCallFunction complete_waitany = completed<complete_any, at::Waitany>;
inline constexpr HostCallFunction complete_testany = completed<complete_any, at::Testany>;
inline constexpr HostCallFunction complete_get_status_any = completed<complete_any, at::Request_get_status_any, false>;
inline constexpr HostCallFunction complete_waitsome = completed<complete_some, at::Waitsome>;
inline constexpr HostCallFunction complete_get_status_some =
    completed<complete_some, at::Request_get_status_some, false>;

}  // namespace millrace::shim
