#include "shim/host/quiet_comm.h"

#include <array>
#include <new>

#include "abi.h"
#include "shim/bind/forward.h"
#include "shim/host/library_version.h"

namespace millrace::shim {
namespace {

Word own_comm = 0;  // written inside MPI_Init and MPI_Finalize

}  // namespace

void make_quiet_comm() {
  if (own_comm != 0) return;
  Word made = 0;
  if (host<Symbol::MPI_Comm_dup>(abi::comm_self(), as_word(&made)) != 0) throw std::bad_alloc();
  own_comm = abi::handle(made);
  if (host<Symbol::MPI_Comm_set_errhandler>(own_comm, abi::errors_return()) == 0) return;
  free_quiet_comm();
  throw std::bad_alloc();
}

void free_quiet_comm() noexcept {
  if (own_comm == 0) return;
  Word freed = own_comm;
  own_comm = 0;
  host<Symbol::MPI_Comm_free>(as_word(&freed));
}

Word quiet_comm() { return own_comm; }

bool host_returns_errors() {
  if constexpr (abi::may_die_of_returned_errors) return host_version().vendor == plan::Vendor::mpich;
  return true;
}

bool host_has_type(Word datatype) {
  int bytes = 0;
  return host<Symbol::MPI_Pack_size>(1, datatype, own_comm, as_word(&bytes)) == 0;
}

bool host_reduces(Word datatype, Word op) {
  std::array<double, 8> in{}, out{};
  return host<Symbol::MPI_Reduce>(as_word(in.data()), as_word(out.data()), 0, datatype, op, 0, own_comm) == 0;
}

bool is_committed(Word datatype) {
  char none = 0;
  int position = 0;
  return own_comm != 0 && host<Symbol::MPI_Pack>(as_word(&none), 0, datatype, as_word(&none), sizeof none,
                                                 as_word(&position), own_comm) == 0;
}

}  // namespace millrace::shim
