#include "shim/packed/status_argument.h"

#include <cstring>

#include "shim/host/fortran.h"

namespace millrace::shim {

StatusArgument::StatusArgument(HostCall& call, std::size_t position, int count) {
  const Word word = call.word(position);
  const bool ignored =
      call.from_fortran() ? fortran::is_status_ignore(word)
      : count == 1 ? word == abi::status_ignore || word == abi::statuses_ignore  // NOLINT(misc-redundant-expression)
                   : word == abi::statuses_ignore;
  if (!ignored) {
    statuses_ = static_cast<std::byte*>(as_pointer(word));
    return;
  }
  is_own_ = true;
  statuses_ = own_.data();
  if (count > own_count)
    statuses_ =
        static_cast<std::byte*>(::operator new(abi::status_bytes* static_cast<std::size_t>(count), std::nothrow));
  if (statuses_) call.set_word(position, as_word(statuses_));
}

std::int64_t received_bytes(const void* status) {
  int cancelled = 0;
  int bytes = 0;
  if (host<Symbol::MPI_Test_cancelled>(as_word(status), as_word(&cancelled)) != 0 || cancelled) return -1;
  if (host<Symbol::MPI_Get_count>(as_word(status), byte_datatype(), as_word(&bytes)) != 0) return -1;
  return bytes;
}

int error_class_in(const void* status) {
  int error = 0;
  int error_class = 0;
  std::memcpy(&error, static_cast<const std::byte*>(status) + abi::status_error_offset_bytes, sizeof error);
  host<Symbol::MPI_Error_class>(as_word(error), as_word(&error_class));
  return error_class;
}

}  // namespace millrace::shim
