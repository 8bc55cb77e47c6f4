#include "shim/process/endings.h"

#include "shim/packed/host_call.h"
#include "shim/process/ending_signals.h"
#include "shim/process/publish.h"
#include "shim/process/report_helper.h"

namespace millrace::shim {
namespace {

// After the handlers of the program and the destructors of its objects, which may call MPI_Finalize yet. A tool that is
// linked in may have called it by its PMPI name, past us; MPI_Finalized may be asked at any time.
[[gnu::destructor]] void at_exit() {
  if (!has_report_helper()) return;
  int finalized = 0;
  host<Symbol::MPI_Finalized>(as_word(&finalized));
  if (finalized == 0) report_ending("exit() without MPI_Finalize", Ending::with_all);
}

}  // namespace

void prepare_to_watch_endings() noexcept { note_own_handlers(); }

void watch_endings() noexcept {
  try {
    prepare_for_endings();
  } catch (...) {
    return;
  }
  if (start_report_helper()) watch_signals();
}

void forget_endings() noexcept {
  end_report_helper();
  leave_signals();
}

void aborting() noexcept { report_ending("MPI_Abort", Ending::of_one); }

}  // namespace millrace::shim
