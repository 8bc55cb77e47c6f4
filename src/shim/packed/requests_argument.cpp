#include "shim/packed/requests_argument.h"

#include "shim/host/fortran.h"

namespace millrace::shim {

Word stored_request_at(const HostCall& call, std::size_t position, int index) {
  const Word array = call.word(position);
  const auto place = static_cast<std::size_t>(index);
  if (!call.from_fortran() || fortran::handle_bytes() == sizeof(Word))
    return abi::handle_at(array + place * sizeof(abi::HandleStorage));
  return as_word(static_cast<const int*>(as_pointer(array))[place]);
}

void set_request_null(HostCall& call, std::size_t position) {
  const Word request = call.word(position);
  if (call.from_fortran())
    fortran::store_request(request, abi::request_null());
  else
    *static_cast<abi::HandleStorage*>(as_pointer(request)) = static_cast<abi::HandleStorage>(abi::request_null());
}

}  // namespace millrace::shim
