#include "shim/host/hidden_errors.h"

#include "abi.h"
#include "shim/bind/forward.h"
#include "shim/host/quiet_comm.h"

namespace millrace::shim {
namespace {

bool hides_errors = false;

void hear(void*, int*, ...) {}

}  // namespace

void find_hidden_errors() {
  const Word comm = quiet_comm();
  Word handler = 0;
  hides_errors = false;
  if (comm == 0 || host<Symbol::MPI_Comm_create_errhandler>(reinterpret_cast<Word>(&hear), as_word(&handler)) != 0)
    return;
  int nothing = 0;
  if (host<Symbol::MPI_Comm_set_errhandler>(comm, abi::handle(handler)) == 0) {
    hides_errors = host<Symbol::MPI_Bcast>(as_word(&nothing), static_cast<Word>(-1), abi::int_type(), 0, comm) == 0;
    host<Symbol::MPI_Comm_set_errhandler>(comm, abi::errors_return());
  }
  host<Symbol::MPI_Errhandler_free>(as_word(&handler));
}

bool host_hides_errors() { return hides_errors; }

bool may_hide_errors(Word comm) {
  if (!hides_errors) [[likely]]
    return false;
  Word handler = 0;
  if (host<Symbol::MPI_Comm_get_errhandler>(comm, as_word(&handler)) != 0) return true;
  const Word found = abi::handle(handler);
  if (found == abi::errors_return() || found == abi::errors_are_fatal()) return false;
  host<Symbol::MPI_Errhandler_free>(as_word(&handler));
  return true;
}

}  // namespace millrace::shim
