#include "shim/process/runtime.h"

#include <fmt/format.h>
#include <unistd.h>

#include <atomic>
#include <climits>
#include <cstdlib>
#include <cstring>
#include <new>

#include "abi.h"
#include "base/file_name.h"
#include "base/launcher.h"
#include "base/light_fence.h"
#include "base/log.h"
#include "base/program_threads.h"
#include "record/phases.h"
#include "shim/bind/communicator_calls.h"
#include "shim/bind/forward.h"
#include "shim/bind/host.h"
#include "shim/call/disabled_entries.h"
#include "shim/host/quiet_comm.h"
#include "shim/host/tuning.h"
#include "shim/node/job_nodes.h"
#include "shim/node/node_agreement.h"
#include "shim/packed/host_call.h"
#include "shim/process/endings.h"
#include "shim/process/introduce.h"
#include "shim/process/publish.h"
#include "shim/reduce/op_substitution.h"
#include "shim/reduce/reductions.h"
#include "shim/shared/shared_collectives.h"
#include "threads/parallel.h"

namespace millrace::shim {

constinit std::atomic<std::uint32_t> mode{0};

namespace {

alignas(Runtime) unsigned char storage[sizeof(Runtime)];
Runtime* instance = nullptr;

// Ranks of the common launchers, from the environment: known even before, or without, initialisation.
bool is_first_rank_by_environment() {
  for (const char* variable : rank_variables)
    if (const char* rank = std::getenv(variable)) return std::strcmp(rank, "0") == 0;
  return true;
}

// A relative name means the directory that the program was started in, wherever it may be when it ends.
std::string from_here(const std::string& path) {
  char here[PATH_MAX];
  if (path.empty() || path.starts_with('/') || !getcwd(here, sizeof here)) return path;
  return fmt::format("{}/{}", literal_name(here), path);
}

// Runs when the dynamic linker has loaded us, also in shells and tools that never call MPI: nothing but reading the
// environment may happen here.
[[gnu::constructor]] void load() {
  instance = new (storage) Runtime;
  Runtime& state = *instance;
  state.settings = read_settings(environ);
  set_log_level(state.settings.log);
  if (!state.settings.enabled || !state.settings.reports()) return;
  state.settings.report_file = from_here(state.settings.report_file);
  set_mode(recording);
}

// Kernels are chosen and complaints are said once, however often a program opens sessions.
// `processes`: of the world, 0 if there is none.
void start_accelerating(bool first_rank, int processes) {
  Runtime& state = runtime();
  threads::use(state.settings.threads, static_cast<std::size_t>(state.settings.threads_bytes), processes);
  if (!state.prepared) {
    state.prepared = true;
    std::vector<std::string> complaints = prepare_reductions(state.settings, state.world_initialised);
    const plan::Tuning& tuned = tuning();
    if (tuned.in_force) kernel::use_copy_tuning(tuned.copies);
    complaints.insert(complaints.end(), tuned.complaints.begin(), tuned.complaints.end());
    complaints.insert(complaints.begin(), state.settings.complaints.begin(), state.settings.complaints.end());
    if (first_rank)
      for (const std::string& complaint : complaints) log(LogLevel::warning, complaint);
  }
  set_mode(accelerating);
}

// Threads of the program, as it has promised (MPI 4.1, 11.6.2); and that of ours needs a fence for them, then.
bool comes_one_at_a_time() {
  int provided = abi::thread_multiple;
  return host<Symbol::MPI_Query_thread>(as_word(&provided)) == 0 && provided != abi::thread_multiple &&
         has_heavy_fences();
}

void start_world() {
  check_host();
  Runtime& state = runtime();
  state.initialised_ns = monotonic_ns();
  record::start_phases(clock_ticks());
  state.world_initialised = true;
  if (!state.settings.enabled || !state.host_matches) return;

  int rank = 0, ranks = 0;
  host<Symbol::MPI_Comm_rank>(abi::comm_world(), as_word(&rank));
  host<Symbol::MPI_Comm_size>(abi::comm_world(), as_word(&ranks));
  state.world_rank = rank;
  state.world_ranks = ranks;
  make_quiet_comm();
  start_accelerating(rank == 0, ranks);
  if (rank == 0) introduce(state.settings, ranks);
  if (rank == 0) check_report_file();
  read_disabled_entries(state.settings);
  prepare_op_substitution(state.settings);
  prepare_layouts(state.settings);
  if (state.settings.collectives != When::never || state.settings.reports())
    join_job_board(state.settings, rank, ranks);
  meet_other_nodes(state.settings, rank, ranks);
  threads_together.store(state.open_sessions > 0 || !comes_one_at_a_time(), std::memory_order_relaxed);
  prepare_shared_collectives(state.settings, rank, ranks);
  if (current_mode() & recording) {
    prepare_known_communicators(ranks);
    watch_endings();
  }
}

void end_world() {
  Runtime& state = runtime();
  clear_mode(accelerating);
  if (!state.world_initialised) return;
  state.world_initialised = false;
  forget_shared_collectives();
  threads_together.store(true, std::memory_order_relaxed);
  forget_op_substitution();
  forget_layouts();
  forget_known_communicators();
  forget_endings();
  if (current_mode() & recording) publish_world();
  leave_other_nodes();
  leave_job_board();
  free_quiet_comm();
}

void start_session() {
  check_host();
  threads_together.store(true, std::memory_order_relaxed);  // a session has a level of its own
  Runtime& state = runtime();
  if (state.open_sessions++ > 0 || state.world_initialised) return;
  state.initialised_ns = monotonic_ns();
  record::start_phases(clock_ticks());
  if (state.settings.enabled && state.host_matches) start_accelerating(is_first_rank_by_environment(), 0);
}

void end_session() {
  Runtime& state = runtime();
  if (state.open_sessions == 0) return;
  --state.open_sessions;
  if (state.open_sessions > 0 || state.world_initialised) return;
  clear_mode(accelerating);
  // Without a world there is no communicator that every process is certain to share: each speaks for itself.
  if (current_mode() & recording) publish_process();
}

// Memory may run out anywhere in these; then the program's call of MPI goes on, without us.
void guarded(void (*work)()) noexcept try { work(); } catch (...) {
  clear_mode(accelerating);
  clear_mode(recording);
  log(LogLevel::error, "out of memory: Millrace steps aside");
}

}  // namespace

Runtime& runtime() { return *instance; }

void check_host() {
  Runtime& state = runtime();
  if (state.host_checked) return;
  const HostAbi host_abi = detect_host_abi();
  if (host_abi == HostAbi::none) return;  // asked again when a libmpi is there
  state.host_checked = true;
  state.host_matches = host_abi == abi::host_abi;
  if (state.host_matches || !state.settings.enabled) return;
  clear_mode(recording);
  if (is_first_rank_by_environment())
    log(LogLevel::error,
        fmt::format("this preload is for {}, the program uses {}: stepping aside; start it with 'millrace --mpi {}'",
                    host_abi_name(abi::host_abi), host_abi_name(host_abi), host_abi_option(host_abi)));
}

void world_initialised() noexcept { guarded(start_world); }
void world_finalising() noexcept { guarded(end_world); }
void session_initialised() noexcept { guarded(start_session); }
void session_finalising() noexcept { guarded(end_session); }

}  // namespace millrace::shim
