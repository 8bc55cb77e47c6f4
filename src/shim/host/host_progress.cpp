#include "shim/host/host_progress.h"

#include <atomic>

#include "abi.h"
#include "shim/bind/forward.h"
#include "shim/bind/late_answers.h"
#include "shim/host/quiet_comm.h"

namespace millrace::shim {
namespace {

// A receive that nobody sends to. Asking for its status makes every host look at all of its transports; MPI_Iprobe on a
// communicator of one rank does not (MPICH looks into the rank's own queue only).
Word never = 0;
int nothing = 0;
bool is_prepared = false;
std::atomic<void (*)()> own_calls{nullptr};

}  // namespace

bool prepare_host_progress() {
  if (quiet_comm() == 0 || is_prepared) return is_prepared;
  if (host<Symbol::MPI_Irecv>(as_word(&nothing), 1, abi::int_type(), 0, 0, quiet_comm(), as_word(&never)) != 0)
    return false;
  is_prepared = true;
  use_host_driver(drive_host);
  return true;
}

void forget_host_progress() {
  if (!is_prepared) return;
  is_prepared = false;
  use_host_driver(nullptr);
  host<Symbol::MPI_Cancel>(as_word(&never));
  host<Symbol::MPI_Wait>(as_word(&never), abi::status_ignore);
}

void also_drive(void (*own)()) { own_calls.store(own, std::memory_order_relaxed); }

bool drive_host(void*) {
  if (void (*const own)() = own_calls.load(std::memory_order_relaxed)) own();
  int done = 0;
  return host<Symbol::MPI_Request_get_status>(abi::handle(never), as_word(&done), abi::status_ignore) == 0;
}

}  // namespace millrace::shim
