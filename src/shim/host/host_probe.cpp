#include "shim/host/host_probe.h"

#include <array>
#include <new>

#include "abi.h"
#include "shim/bind/forward.h"
#include "shim/host/library_version.h"

namespace millrace::shim {

HostProbe::HostProbe() {
  if (host<Symbol::MPI_Comm_dup>(abi::comm_self(), as_word(&comm_)) != 0) throw std::bad_alloc();
  if (host<Symbol::MPI_Comm_set_errhandler>(abi::handle(comm_), abi::errors_return()) == 0) return;
  host<Symbol::MPI_Comm_free>(as_word(&comm_));
  throw std::bad_alloc();
}

HostProbe::~HostProbe() { host<Symbol::MPI_Comm_free>(as_word(&comm_)); }

bool HostProbe::has_type(Word datatype) const {
  int bytes = 0;
  return host<Symbol::MPI_Pack_size>(1, datatype, abi::handle(comm_), as_word(&bytes)) == 0;
}

bool HostProbe::reduces(Word datatype, Word op) const {
  std::array<double, 8> in{}, out{};
  return host<Symbol::MPI_Reduce>(as_word(in.data()), as_word(out.data()), 0, datatype, op, 0, abi::handle(comm_)) == 0;
}

bool host_returns_errors() {
  if constexpr (abi::may_die_of_returned_errors) return host_version().vendor == plan::Vendor::mpich;
  return true;
}

}  // namespace millrace::shim
