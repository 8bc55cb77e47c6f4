#include "shim/host/host_progress.h"

#include <atomic>

#include "abi.h"
#include "shim/bind/forward.h"
#include "shim/bind/late_answers.h"

namespace millrace::shim {
namespace {

Word own_comm = 0;
// A receive that nobody sends to. Asking for its status makes every host look at all of its transports; MPI_Iprobe on a
// communicator of one rank does not (MPICH looks into the rank's own queue only).
Word never = 0;
int nothing = 0;
std::atomic<void (*)()> own_calls{nullptr};

}  // namespace

bool prepare_host_progress() {
  Word made = 0;
  if (host<Symbol::MPI_Comm_dup>(abi::comm_self(), as_word(&made)) != 0) return false;
  own_comm = abi::handle(made);
  // What fails here must not end the program in the middle of its own collective.
  host<Symbol::MPI_Comm_set_errhandler>(own_comm, abi::errors_return());
  if (host<Symbol::MPI_Irecv>(as_word(&nothing), 1, abi::int_type(), 0, 0, own_comm, as_word(&never)) != 0)
    return false;
  use_host_driver(drive_host);
  return true;
}

void forget_host_progress() {
  if (own_comm == 0) return;
  use_host_driver(nullptr);
  host<Symbol::MPI_Cancel>(as_word(&never));
  host<Symbol::MPI_Wait>(as_word(&never), abi::status_ignore);
  Word freed = own_comm;
  host<Symbol::MPI_Comm_free>(as_word(&freed));
  own_comm = 0;
}

Word quiet_comm() { return own_comm; }

bool is_committed(Word datatype) {
  char none = 0;
  int position = 0;
  return own_comm != 0 && host<Symbol::MPI_Pack>(as_word(&none), 0, datatype, as_word(&none), sizeof none,
                                                 as_word(&position), own_comm) == 0;
}

void also_drive(void (*own)()) { own_calls.store(own, std::memory_order_relaxed); }

bool drive_host(void*) {
  if (void (*const own)() = own_calls.load(std::memory_order_relaxed)) own();
  int done = 0;
  return host<Symbol::MPI_Request_get_status>(abi::handle(never), as_word(&done), abi::status_ignore) == 0;
}

}  // namespace millrace::shim
