// The hooks of calls that carry data of derived types: what the table's `accelerated NAME` lines name (see hooks.h).
#pragma once

#include "shim/packed/layout_nonblocking.h"
#include "shim/packed/layout_pack.h"
#include "shim/packed/layout_point_to_point.h"
#include "shim/packed/requests.h"
#include "shim/packed/requests_complete.h"

namespace millrace::shim::hook {

// Runs `function` on the call, or forwards it where there is nothing to look at.
template <Symbol symbol, class... Words>
Word looked_at(Word (*function)(HostCall), Words... words) {
  if (!datatypes_active.load(std::memory_order_relaxed) || (current_mode() & checking))
    return forward<symbol>(words...);
  std::array<Word, sizeof...(Words)> array{words...};
  return function(HostCall(symbol, array, &pass_array<symbol, sizeof...(Words)>));
}

template <Symbol symbol>
Word pack(Word in, Word count, Word datatype, Word out, Word out_size, Word position, Word comm) {
  if (__builtin_expect(!may_have_layout(abi::handle(datatype)), 1))
    return forward<symbol>(in, count, datatype, out, out_size, position, comm);
  if (current_mode() == accelerating && position != 0) {
    int& place = *static_cast<int*>(as_pointer(position));
    std::int64_t end = place;
    const AtOnce now =
        packed_at_once(in, as_int(count), abi::handle(datatype), out, as_int(out_size), end, abi::handle(comm));
    if (now == AtOnce::hosts) return forward<symbol>(in, count, datatype, out, out_size, position, comm);
    if (now == AtOnce::done) {
      place = static_cast<int>(end);
      return 0;
    }
  }
  return looked_at<symbol>(pack_call, in, count, datatype, out, out_size, position, comm);
}

template <Symbol symbol>
Word unpack(Word in, Word in_size, Word position, Word out, Word count, Word datatype, Word comm) {
  if (__builtin_expect(!may_have_layout(abi::handle(datatype)), 1))
    return forward<symbol>(in, in_size, position, out, count, datatype, comm);
  if (current_mode() == accelerating && position != 0) {
    int& place = *static_cast<int*>(as_pointer(position));
    std::int64_t end = place;
    const AtOnce now =
        unpacked_at_once(in, as_int(in_size), end, out, as_int(count), abi::handle(datatype), abi::handle(comm));
    if (now == AtOnce::hosts) return forward<symbol>(in, in_size, position, out, count, datatype, comm);
    if (now == AtOnce::done) {
      place = static_cast<int>(end);
      return 0;
    }
  }
  return looked_at<symbol>(unpack_call, in, in_size, position, out, count, datatype, comm);
}

template <Symbol symbol, class... Words>
Word pack_c(Words... words) {
  return looked_at<symbol>(pack_call, words...);
}
template <Symbol symbol, class... Words>
Word pack_fortran(Words... words) {
  return looked_at<symbol>(pack_call, words...);
}
template <Symbol symbol, class... Words>
Word unpack_c(Words... words) {
  return looked_at<symbol>(unpack_call, words...);
}
template <Symbol symbol, class... Words>
Word unpack_fortran(Words... words) {
  return looked_at<symbol>(unpack_call, words...);
}

// A call of C with datatypes at some positions: one test for each when they are predefined.
template <Symbol symbol, std::size_t... datatypes, class... Words>
Word messages(Word (*function)(HostCall), Words... words) {
  const std::array<Word, sizeof...(Words)> array{words...};
  if (__builtin_expect(!(may_have_layout(abi::handle(array[datatypes])) || ...), 1)) return forward<symbol>(words...);
  return looked_at<symbol>(function, words...);
}

template <Symbol symbol, class... Words>
Word message_send(Words... words) {
  return messages<symbol, 2>(send_call, words...);
}
template <Symbol symbol, class... Words>
Word message_send_c(Words... words) {
  return messages<symbol, 2>(send_call, words...);
}
template <Symbol symbol, class... Words>
Word message_send_fortran(Words... words) {
  return looked_at<symbol>(send_call, words...);
}

template <Symbol symbol, class... Words>
Word message_receive(Words... words) {
  return messages<symbol, 2>(receive_call, words...);
}
template <Symbol symbol, class... Words>
Word message_receive_c(Words... words) {
  return messages<symbol, 2>(receive_call, words...);
}
template <Symbol symbol, class... Words>
Word message_receive_fortran(Words... words) {
  return looked_at<symbol>(receive_call, words...);
}

template <Symbol symbol, class... Words>
Word message_mrecv(Words... words) {
  return messages<symbol, 2>(matched_receive_call, words...);
}
template <Symbol symbol, class... Words>
Word message_mrecv_c(Words... words) {
  return messages<symbol, 2>(matched_receive_call, words...);
}
template <Symbol symbol, class... Words>
Word message_mrecv_fortran(Words... words) {
  return looked_at<symbol>(matched_receive_call, words...);
}

template <Symbol symbol, class... Words>
Word message_sendrecv(Words... words) {
  return messages<symbol, 2, 7>(send_receive_call, words...);
}
template <Symbol symbol, class... Words>
Word message_sendrecv_c(Words... words) {
  return messages<symbol, 2, 7>(send_receive_call, words...);
}
template <Symbol symbol, class... Words>
Word message_sendrecv_fortran(Words... words) {
  return looked_at<symbol>(send_receive_call, words...);
}

template <Symbol symbol, class... Words>
Word message_replace(Words... words) {
  return messages<symbol, 2>(send_receive_replace_call, words...);
}
template <Symbol symbol, class... Words>
Word message_replace_c(Words... words) {
  return messages<symbol, 2>(send_receive_replace_call, words...);
}
template <Symbol symbol, class... Words>
Word message_replace_fortran(Words... words) {
  return looked_at<symbol>(send_receive_replace_call, words...);
}

template <Symbol symbol, class... Words>
Word message_isend(Words... words) {
  return messages<symbol, 2>(isend_call, words...);
}
template <Symbol symbol, class... Words>
Word message_isend_c(Words... words) {
  return messages<symbol, 2>(isend_call, words...);
}
template <Symbol symbol, class... Words>
Word message_isend_fortran(Words... words) {
  return looked_at<symbol>(isend_call, words...);
}

template <Symbol symbol, class... Words>
Word message_irecv(Words... words) {
  return messages<symbol, 2>(irecv_call, words...);
}
template <Symbol symbol, class... Words>
Word message_irecv_c(Words... words) {
  return messages<symbol, 2>(irecv_call, words...);
}
template <Symbol symbol, class... Words>
Word message_irecv_fortran(Words... words) {
  return looked_at<symbol>(irecv_call, words...);
}

template <Symbol symbol, class... Words>
Word message_imrecv(Words... words) {
  return messages<symbol, 2>(imrecv_call, words...);
}
template <Symbol symbol, class... Words>
Word message_imrecv_c(Words... words) {
  return messages<symbol, 2>(imrecv_call, words...);
}
template <Symbol symbol, class... Words>
Word message_imrecv_fortran(Words... words) {
  return looked_at<symbol>(imrecv_call, words...);
}

template <Symbol symbol, class... Words>
Word message_isendrecv(Words... words) {
  return messages<symbol, 2, 7>(isendrecv_call, words...);
}
template <Symbol symbol, class... Words>
Word message_isendrecv_c(Words... words) {
  return messages<symbol, 2, 7>(isendrecv_call, words...);
}
template <Symbol symbol, class... Words>
Word message_isendrecv_fortran(Words... words) {
  return looked_at<symbol>(isendrecv_call, words...);
}

template <Symbol symbol, class... Words>
Word message_ireplace(Words... words) {
  return messages<symbol, 2>(isendrecv_replace_call, words...);
}
template <Symbol symbol, class... Words>
Word message_ireplace_c(Words... words) {
  return messages<symbol, 2>(isendrecv_replace_call, words...);
}
template <Symbol symbol, class... Words>
Word message_ireplace_fortran(Words... words) {
  return looked_at<symbol>(isendrecv_replace_call, words...);
}

template <Symbol symbol, class... Words>
Word message_send_init(Words... words) {
  return messages<symbol, 2>(send_init_call, words...);
}
template <Symbol symbol, class... Words>
Word message_send_init_c(Words... words) {
  return messages<symbol, 2>(send_init_call, words...);
}
template <Symbol symbol, class... Words>
Word message_send_init_fortran(Words... words) {
  return looked_at<symbol>(send_init_call, words...);
}

template <Symbol symbol, class... Words>
Word message_recv_init(Words... words) {
  return messages<symbol, 2>(recv_init_call, words...);
}
template <Symbol symbol, class... Words>
Word message_recv_init_c(Words... words) {
  return messages<symbol, 2>(recv_init_call, words...);
}
template <Symbol symbol, class... Words>
Word message_recv_init_fortran(Words... words) {
  return looked_at<symbol>(recv_init_call, words...);
}

// Calls with requests: one load when none is ours. Also inside MPI_Finalize, where attributes' delete callbacks may
// complete what was begun before.
template <Symbol symbol, class... Words>
Word requests(Word (*function)(HostCall), Words... words) {
  if (!any_tracked() || (current_mode() & checking)) return forward<symbol>(words...);
  std::array<Word, sizeof...(Words)> array{words...};
  return function(HostCall(symbol, array, &pass_array<symbol, sizeof...(Words)>));
}

inline Word complete_wait(HostCall call) { return complete_one(std::move(call), {CompletionPlaces::none, 1, true}); }
inline Word complete_test(HostCall call) { return complete_one(std::move(call), {1, 2, true}); }
inline Word complete_get_status(HostCall call) { return complete_one(std::move(call), {1, 2, false}); }
inline Word complete_waitall(HostCall call) { return complete_all(std::move(call), {CompletionPlaces::none, 2, true}); }
inline Word complete_testall(HostCall call) { return complete_all(std::move(call), {2, 3, true}); }
inline Word complete_get_status_all(HostCall call) { return complete_all(std::move(call), {2, 3, false}); }
inline Word complete_waitany(HostCall call) { return complete_any(std::move(call), {CompletionPlaces::none, 3, true}); }
inline Word complete_testany(HostCall call) { return complete_any(std::move(call), {3, 4, true}); }
inline Word complete_get_status_any(HostCall call) { return complete_any(std::move(call), {3, 4, false}); }
inline Word complete_waitsome(HostCall call) {
  return complete_some(std::move(call), {CompletionPlaces::none, 4, true});
}
inline Word complete_get_status_some(HostCall call) {
  return complete_some(std::move(call), {CompletionPlaces::none, 4, false});
}

template <Symbol symbol, class... Words>
Word request_wait(Words... words) {
  return requests<symbol>(complete_wait, words...);
}
template <Symbol symbol, class... Words>
Word request_wait_fortran(Words... words) {
  return requests<symbol>(complete_wait, words...);
}

template <Symbol symbol, class... Words>
Word request_test(Words... words) {
  return requests<symbol>(complete_test, words...);
}
template <Symbol symbol, class... Words>
Word request_test_fortran(Words... words) {
  return requests<symbol>(complete_test, words...);
}

template <Symbol symbol, class... Words>
Word request_get_status(Words... words) {
  return requests<symbol>(complete_get_status, words...);
}
template <Symbol symbol, class... Words>
Word request_get_status_fortran(Words... words) {
  return requests<symbol>(complete_get_status, words...);
}

template <Symbol symbol, class... Words>
Word request_waitall(Words... words) {
  return requests<symbol>(complete_waitall, words...);
}
template <Symbol symbol, class... Words>
Word request_waitall_fortran(Words... words) {
  return requests<symbol>(complete_waitall, words...);
}

template <Symbol symbol, class... Words>
Word request_testall(Words... words) {
  return requests<symbol>(complete_testall, words...);
}
template <Symbol symbol, class... Words>
Word request_testall_fortran(Words... words) {
  return requests<symbol>(complete_testall, words...);
}

template <Symbol symbol, class... Words>
Word request_get_status_all(Words... words) {
  return requests<symbol>(complete_get_status_all, words...);
}
template <Symbol symbol, class... Words>
Word request_get_status_all_fortran(Words... words) {
  return requests<symbol>(complete_get_status_all, words...);
}

template <Symbol symbol, class... Words>
Word request_waitany(Words... words) {
  return requests<symbol>(complete_waitany, words...);
}
template <Symbol symbol, class... Words>
Word request_waitany_fortran(Words... words) {
  return requests<symbol>(complete_waitany, words...);
}

template <Symbol symbol, class... Words>
Word request_testany(Words... words) {
  return requests<symbol>(complete_testany, words...);
}
template <Symbol symbol, class... Words>
Word request_testany_fortran(Words... words) {
  return requests<symbol>(complete_testany, words...);
}

template <Symbol symbol, class... Words>
Word request_get_status_any(Words... words) {
  return requests<symbol>(complete_get_status_any, words...);
}
template <Symbol symbol, class... Words>
Word request_get_status_any_fortran(Words... words) {
  return requests<symbol>(complete_get_status_any, words...);
}

template <Symbol symbol, class... Words>
Word request_waitsome(Words... words) {
  return requests<symbol>(complete_waitsome, words...);
}
template <Symbol symbol, class... Words>
Word request_waitsome_fortran(Words... words) {
  return requests<symbol>(complete_waitsome, words...);
}

template <Symbol symbol, class... Words>
Word request_get_status_some(Words... words) {
  return requests<symbol>(complete_get_status_some, words...);
}
template <Symbol symbol, class... Words>
Word request_get_status_some_fortran(Words... words) {
  return requests<symbol>(complete_get_status_some, words...);
}

template <Symbol symbol, class... Words>
Word request_start(Words... words) {
  return requests<symbol>(start_call, words...);
}
template <Symbol symbol, class... Words>
Word request_start_fortran(Words... words) {
  return requests<symbol>(start_call, words...);
}

template <Symbol symbol, class... Words>
Word request_startall(Words... words) {
  return requests<symbol>(startall_call, words...);
}
template <Symbol symbol, class... Words>
Word request_startall_fortran(Words... words) {
  return requests<symbol>(startall_call, words...);
}

template <Symbol symbol, class... Words>
Word request_free(Word request, Words... words) {
  if (!(current_mode() & checking)) forget_request(request, is_fortran(symbol));
  return requests<symbol>(request_free_call, request, words...);
}
template <Symbol symbol, class... Words>
Word request_free_fortran(Words... words) {
  return request_free<symbol>(words...);
}

}  // namespace millrace::shim::hook
