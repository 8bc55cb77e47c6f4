#include "shim/process/publish.h"

#include <dlfcn.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <climits>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#include "abi.h"
#include "base/launcher.h"
#include "kernel/kernel.h"
#include "node/board_reports.h"
#include "record/rank_record.h"
#include "record/report.h"
#include "shim/bind/forward.h"
#include "shim/host/library_version.h"
#include "shim/node/job_nodes.h"
#include "shim/node/node_agreement.h"
#include "shim/packed/host_call.h"
#include "shim/process/runtime.h"
#include "shim/reduce/op_substitution.h"
#include "shim/reduce/reduce_local.h"
#include "shim/shared/savings.h"
#include "shim/shared/shared_collectives.h"

namespace millrace::shim {
namespace {

// The name of the file that we were loaded from, without directory, "lib" and suffix: "millrace-openmpi-5.0".
std::string variant_name() {
  Dl_info self;
  if (!dladdr(reinterpret_cast<const void*>(&variant_name), &self) || !self.dli_fname) return {};
  std::string name = self.dli_fname;
  name.erase(0, name.rfind('/') + 1);
  if (name.starts_with("libmillrace-")) name.erase(0, std::strlen("libmillrace-"));
  if (name.ends_with(".so")) name.erase(name.size() - 3);
  return name;
}

record::RankIdentity identity(int rank, int ranks) {
  record::RankIdentity who;
  who.rank = rank;
  who.ranks = ranks;
  char name[HOST_NAME_MAX + 1] = "";
  if (gethostname(name, sizeof name - 1) == 0) who.host = name;
  who.pid = getpid();
  who.isa = kernel::active_isa().name;
  who.host_mpi = library_version();
  who.variant = variant_name();
  for (const Setting& setting : settings()) who.settings.emplace_back(setting.variable, setting_text(setting, environ));
  who.wall_ns = monotonic_ns() - runtime().initialised_ns;
  return who;
}

const char* algorithm_name(std::uint16_t algorithm) {
  if (algorithm >= first_layout_algorithm) return layout_algorithm_name(algorithm);
  if (algorithm >= first_shared_algorithm) return shared_algorithm_name(algorithm);
  if (algorithm >= first_substitution_algorithm) return substitution_name(algorithm);
  return algorithm >= first_threaded_algorithm ? threaded_name(algorithm) : kernel::kernel_name(algorithm);
}

record::Names names() { return {entry_names(), algorithm_name}; }

std::vector<std::byte> own_record(int rank, int ranks) {
  return record::pack_rank_record(identity(rank, ranks), names(), savings(), runtime().tick_scale.ns_per_tick());
}

// "a.json" -> "a.<word>.json": processes that do not share a world must not overwrite one another's file.
std::string with_suffix(const std::string& destination, const std::string& word) {
  if (!destination.ends_with(".json")) return destination;
  return fmt::format("{}.{}.json", destination.substr(0, destination.size() - 5), word);
}

// Other nodes write reports of their own: ranks of several nodes have nothing in common yet.
bool others_elsewhere(const node::Board& board, std::size_t records) {
  if (pretended_nodes(runtime().settings, static_cast<int>(board.world_ranks()))) return true;
  const int here = told_local_ranks();
  const std::size_t ranks = board.world_ranks();
  return here > 0 ? static_cast<std::size_t>(here) < ranks : records < ranks;
}

// Of this node, also where it is one that is only pretended.
std::string node_name(int rank, int ranks) {
  char name[HOST_NAME_MAX + 1] = "";
  std::string host = gethostname(name, sizeof name - 1) == 0 ? name : "node";
  if (const auto pretended = pretended_nodes(runtime().settings, ranks))
    host += fmt::format(".{}", (*pretended)[static_cast<std::size_t>(rank)]);
  return host;
}

}  // namespace

// Whoever comes last of those that were asked for a report writes it. Nobody waits: a rank that was not asked, or runs
// without Millrace, would never come.
void publish_world() {
  int rank = 0;
  int ranks = 1;
  host<Symbol::MPI_Comm_rank>(abi::comm_world(), as_word(&rank));
  host<Symbol::MPI_Comm_size>(abi::comm_world(), as_word(&ranks));
  const std::vector<std::byte> own = own_record(rank, ranks);
  node::Board* const board = job_board();
  bool left = false;
  std::string destination = runtime().settings.report;
  // They have a world of their own beside that of their parents.
  if (was_spawned()) destination = with_suffix(destination, fmt::format("pid{}", getpid()));
  if (board) {
    const auto records = node::leave_report(*board, own, left);
    if (!records.empty()) {
      if (others_elsewhere(*board, records.size())) destination = with_suffix(destination, node_name(rank, ranks));
      record::publish(records, destination);
    }
  }
  if (left) return;
  if (ranks > 1) destination = with_suffix(destination, fmt::format("rank{}", rank));
  record::publish(std::span(&own, 1), destination);
}

record::RankRecord record_until_now() {
  int rank = 0;
  int ranks = 1;
  if (runtime().world_initialised) {
    host<Symbol::MPI_Comm_rank>(abi::comm_world(), as_word(&rank));
    host<Symbol::MPI_Comm_size>(abi::comm_world(), as_word(&ranks));
  }
  return record::this_rank(identity(rank, ranks), names(), savings(), runtime().tick_scale.ns_per_tick());
}

void publish_process() {
  const std::vector<std::byte> own = own_record(0, 1);
  record::publish(std::span(&own, 1), with_suffix(runtime().settings.report, fmt::format("pid{}", getpid())));
}

}  // namespace millrace::shim
