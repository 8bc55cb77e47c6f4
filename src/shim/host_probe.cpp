#include "shim/host_probe.h"

#include "abi.h"
#include "shim/forward.h"
#include "shim/library_version.h"

namespace millrace::shim {
namespace {

Word replace_handler(Word comm) {
  Word former = 0;
  host<Symbol::MPI_Comm_get_errhandler>(comm, as_word(&former));
  host<Symbol::MPI_Comm_set_errhandler>(comm, abi::errors_return());
  return former;
}

// MPICH and what is made of it look at MPI_COMM_SELF's handler for errors of calls without a communicator only if one
// was set, and at MPI_COMM_WORLD's otherwise. Nothing can unset it, so there it is not touched.
constexpr bool uses_self = abi::host_abi == HostAbi::openmpi;

// At the end of MPI_Init a handler can only be a predefined one, which needs no freeing.
void restore_handler(Word comm, Word former) { host<Symbol::MPI_Comm_set_errhandler>(comm, former); }

}  // namespace

ErrorsReturn::ErrorsReturn(bool active) : active_(active) {
  if (!active_) return;
  of_world_ = replace_handler(abi::comm_world());
  if (uses_self) of_self_ = replace_handler(abi::comm_self());
}

ErrorsReturn::~ErrorsReturn() {
  if (!active_) return;
  if (uses_self) restore_handler(abi::comm_self(), of_self_);
  restore_handler(abi::comm_world(), of_world_);
}

bool host_returns_errors() {
  if constexpr (abi::host_abi == HostAbi::mpi_abi) return library_version().starts_with("MPICH Version");
  return true;
}

bool host_reduces(Word datatype, Word op) { return host<Symbol::MPI_Reduce_local>(0, 0, 0, datatype, op) == 0; }

}  // namespace millrace::shim
