#include "shim/packed/requests_argument.h"

#include "shim/host/fortran.h"

namespace millrace::shim {

Word stored_request_at(const HostCall& call, std::size_t position, int index) {
  const void* const array = as_pointer(call.word(position));
  if (call.from_fortran()) return as_word(static_cast<const int*>(array)[index]);
  return static_cast<const abi::HandleStorage*>(array)[index];
}

void set_request_null(HostCall& call, std::size_t position) {
  void* const request = as_pointer(call.word(position));
  if (!call.from_fortran()) {
    *static_cast<abi::HandleStorage*>(request) = static_cast<abi::HandleStorage>(abi::request_null());
    return;
  }
  int& integer = *static_cast<int*>(request);
  if constexpr (abi::host_abi == HostAbi::mpich)
    integer = as_int(abi::request_null());
  else
    integer = as_int(host_word<Symbol::MPI_Request_c2f>(abi::request_null()));
}

}  // namespace millrace::shim
