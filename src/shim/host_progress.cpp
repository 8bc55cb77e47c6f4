#include "shim/host_progress.h"

#include "abi.h"
#include "shim/forward.h"

namespace millrace::shim {
namespace {

Word own_comm = 0;

}  // namespace

bool prepare_host_progress() {
  Word made = 0;
  if (host<Symbol::MPI_Comm_dup>(abi::comm_self(), as_word(&made)) != 0) return false;
  own_comm = abi::handle(made);
  // A failing probe must not end the program in the middle of its own collective.
  host<Symbol::MPI_Comm_set_errhandler>(own_comm, abi::errors_return());
  return true;
}

void forget_host_progress() {
  if (own_comm == 0) return;
  Word freed = own_comm;
  host<Symbol::MPI_Comm_free>(as_word(&freed));
  own_comm = 0;
}

bool drive_host(void*) {
  int found = 0;
  return host<Symbol::MPI_Iprobe>(as_word(abi::any_source), as_word(abi::any_tag), own_comm, as_word(&found),
                                  abi::status_ignore) == 0;
}

}  // namespace millrace::shim
