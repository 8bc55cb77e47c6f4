#include "shim/process/publish.h"

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <ctime>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "abi.h"
#include "base/file_name.h"
#include "base/launcher.h"
#include "base/log.h"
#include "kernel/kernel.h"
#include "node/board_reports.h"
#include "record/rank_record.h"
#include "record/report.h"
#include "record/whole_file.h"
#include "shim/bind/forward.h"
#include "shim/host/library_version.h"
#include "shim/node/job_nodes.h"
#include "shim/node/node_agreement.h"
#include "shim/packed/host_call.h"
#include "shim/process/introduce.h"
#include "shim/process/runtime.h"
#include "shim/reduce/op_substitution.h"
#include "shim/reduce/reduce_local.h"
#include "shim/shared/late_ranks.h"
#include "shim/shared/savings.h"
#include "shim/shared/shared_collectives.h"

namespace millrace::shim {
namespace {

record::RankIdentity identity(int rank, int ranks) {
  record::RankIdentity who;
  who.rank = rank;
  who.ranks = ranks;
  who.host = node_name();
  who.pid = getpid();
  who.isa = kernel::active_isa().name;
  who.host_mpi = library_version();
  who.variant = preload_name();
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

record::Findings findings() { return {savings(), waits(runtime().tick_scale.ns_per_tick())}; }

record::Names names() { return {entry_names(), algorithm_name}; }

std::vector<std::byte> own_record(int rank, int ranks) {
  return record::pack_rank_record(identity(rank, ranks), names(), findings(), runtime().tick_scale.ns_per_tick());
}

record::Destination destination() {
  const SettingValues& settings = runtime().settings;
  return {settings.report_table, file_name_of(settings.report_file)};
}

// "a.json" -> "a.<word>.json": processes that do not share a world must not overwrite one another's file. Not where the
// name tells them apart anyway, by `letter`.
void add_suffix(record::Destination& destination, char letter, const std::string& word) {
  std::string& file = destination.file;
  if (file.ends_with(".json") && !names_by(runtime().settings.report_file, letter))
    file = fmt::format("{}.{}.json", file.substr(0, file.size() - 5), word);
}

// Other nodes write reports of their own: ranks of several nodes have nothing in common yet.
bool others_elsewhere(const node::Board& board, std::size_t records) {
  if (pretended_nodes(runtime().settings, static_cast<int>(board.world_ranks()))) return true;
  const int here = told_local_ranks();
  const std::size_t ranks = board.world_ranks();
  return here > 0 ? static_cast<std::size_t>(here) < ranks : records < ranks;
}

// Of this node, also where it is one that is only pretended.
void add_node(record::Destination& destination, int rank, int ranks) {
  if (const auto pretended = pretended_nodes(runtime().settings, ranks))
    add_suffix(destination, '\0', fmt::format("{}.{}", node_name(), (*pretended)[static_cast<std::size_t>(rank)]));
  else
    add_suffix(destination, 'h', node_name());
}

// What only the host can say, asked while it may be: whoever ends may be inside it.
struct ToldByHost {
  record::RankIdentity identity;
  bool was_spawned;
};
std::optional<ToldByHost>& told_by_host() {
  static auto& told = *new std::optional<ToldByHost>;  // programs may end in any way
  return told;
}

record::Destination places_of_world() {
  record::Destination places = destination();
  const auto& told = told_by_host();
  // They have a world of their own beside that of their parents.
  if (told ? told->was_spawned : was_spawned()) add_suffix(places, 'p', fmt::format("pid{}", getpid()));
  return places;
}

void publish_parts(const node::Board& board, std::span<const std::vector<std::byte>> parts) {
  record::Destination places = places_of_world();
  if (others_elsewhere(board, parts.size())) add_node(places, runtime().world_rank, runtime().world_ranks);
  record::publish(parts, places);
}

// Returns where.
std::string publish_alone(const std::vector<std::byte>& own) {
  record::Destination places = places_of_world();
  if (runtime().world_ranks > 1) add_suffix(places, '\0', fmt::format("rank{}", runtime().world_rank));
  record::publish(std::span(&own, 1), places);
  return places.file;
}

// What a rank has reported of itself when a signal came that somebody handles.
struct ProvisionalFile {
  std::string name;
  dev_t device;
  ino_t inode;
};
std::optional<ProvisionalFile>& provisional_file() {
  static auto& file = *new std::optional<ProvisionalFile>;
  return file;
}

// There is a better one now. Another job's of that name stays.
void remove_provisional_file() {
  const auto file = std::exchange(provisional_file(), std::nullopt);
  struct stat now {};
  if (file && lstat(file->name.c_str(), &now) == 0 && now.st_ino == file->inode && now.st_dev == file->device)
    unlink(file->name.c_str());
}

void publish_provisional(const std::vector<std::byte>& own) {
  const std::string name = publish_alone(own);
  struct stat now {};
  // Neither a device nor a link of the user's is ours to remove.
  if (lstat(name.c_str(), &now) == 0 && S_ISREG(now.st_mode)) provisional_file() = {name, now.st_dev, now.st_ino};
}

// The others end, too, and the last of them reports of all. Not all may come to it.
void report_with_others(node::Board& board) {
  constexpr int most_pauses = 30;
  constexpr timespec pause{0, 10'000'000};
  for (int pauses = 0; pauses < most_pauses && !node::are_parts_taken(board); ++pauses) nanosleep(&pause, nullptr);
  const auto parts = node::take_parts(board);
  if (!parts.empty()) publish_parts(board, parts);
}

}  // namespace

// Whoever comes last of those that were asked for a report writes it. Nobody waits: a rank that was not asked, or runs
// without Millrace, would never come.
void publish_world() {
  const std::vector<std::byte> own = own_record(runtime().world_rank, runtime().world_ranks);
  remove_provisional_file();
  bool left = false;
  if (node::Board* const board = job_board()) {
    const auto parts = node::leave_report(*board, own, left);
    if (!parts.empty()) publish_parts(*board, parts);
  }
  if (!left) publish_alone(own);
}

void prepare_for_endings() { told_by_host() = {identity(runtime().world_rank, runtime().world_ranks), was_spawned()}; }

void publish_ending(const char* how, Ending ending) {
  record::RankIdentity who = told_by_host().value().identity;
  who.wall_ns = monotonic_ns() - runtime().initialised_ns;
  who.ended_by = ending == Ending::perhaps ? fmt::format("{}, which the program handles", how) : how;
  const std::vector<std::byte> own =
      record::pack_rank_record(who, names(), findings(), runtime().tick_scale.ns_per_tick());
  remove_provisional_file();
  if (ending == Ending::perhaps) return publish_provisional(own);
  bool left = false;
  node::Board* const board = job_board();
  if (board) {
    const auto parts = node::leave_report(*board, own, left);
    if (!parts.empty()) return publish_parts(*board, parts);
  }
  if (!left || (ending == Ending::of_one && node::claim_early_report(*board)))
    publish_alone(own);
  else
    report_with_others(*board);
}

record::RankRecord record_until_now() {
  return record::this_rank(identity(runtime().world_rank, runtime().world_ranks), names(), findings(),
                           runtime().tick_scale.ns_per_tick());
}

void check_report_file() {
  const std::string file = destination().file;
  if (file.empty()) return;
  if (const std::string why = record::obstacle_to_file(file); !why.empty())
    log(LogLevel::warning,
        fmt::format("MILLRACE_REPORT: {} cannot be written at the end as it looks now: {}", file, why));
}

void publish_process() {
  const std::vector<std::byte> own = own_record(0, 1);
  record::Destination places = destination();
  add_suffix(places, 'p', fmt::format("pid{}", getpid()));
  record::publish(std::span(&own, 1), places);
}

}  // namespace millrace::shim
