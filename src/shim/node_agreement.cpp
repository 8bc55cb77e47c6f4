#include "shim/node_agreement.h"

#include <unistd.h>

#include <array>
#include <atomic>
#include <string>
#include <string_view>
#include <vector>

#include "abi.h"
#include "base/log.h"
#include "base/settings.h"
#include "shim/forward.h"
#include "shim/library_version.h"
#include "shim/node_group.h"
#include "shim/presence.h"
#include "shim/tuning.h"

namespace millrace::shim {
namespace {

using record::Reason;
using Stage = Communicator::Stage;

// Communicators that live for a few calls only are not worth the memory and the calls that it takes to agree.
constexpr int calls_before_agreement = 8;

std::string job;
Word world_group = 0;
std::vector<std::atomic<bool>> known_present;  // by rank of MPI_COMM_WORLD; once true, for ever
// Every rank of MPI_COMM_WORLD was found, and no two threads of a process may be in collectives at once.
std::atomic<bool> whole_world_known{false};
bool threads_may_call = true;
std::uint64_t settings_digest = 0;

// What must be equal on all ranks for them to choose alike: every setting but those that change nothing that others
// see.
std::uint64_t digest_of_settings() {
  std::uint64_t digest = 0xcbf29ce484222325u;  // FNV-1a
  for (const Setting& setting : settings()) {
    const std::string_view variable = setting.variable;
    if (variable == "MILLRACE_REPORT" || variable == "MILLRACE_LOG") continue;
    for (const char letter : setting_text(setting, environ))
      digest = (digest ^ static_cast<unsigned char>(letter)) * 0x100000001b3u;
    digest = (digest ^ 0xff) * 0x100000001b3u;
  }
  for (const char letter : library_version()) digest = (digest ^ static_cast<unsigned char>(letter)) * 0x100000001b3u;
  return (digest ^ tuning().digest) * 0x100000001b3u;
}

// The ranks of a communicator in MPI_COMM_WORLD; empty if one of them is not in it (spawned, or joined later).
std::vector<int> world_ranks(const Communicator& communicator) {
  const auto ranks = static_cast<std::size_t>(communicator.ranks);
  std::vector<int> own(ranks);
  std::vector<int> in_world(ranks, -1);
  for (std::size_t rank = 0; rank < ranks; ++rank) own[rank] = static_cast<int>(rank);
  Word group = 0;
  if (host<Symbol::MPI_Comm_group>(communicator.handle, as_word(&group)) != 0) return {};
  const int error = host<Symbol::MPI_Group_translate_ranks>(abi::handle(group), communicator.ranks, as_word(own.data()),
                                                            world_group, as_word(in_world.data()));
  host<Symbol::MPI_Group_free>(as_word(&group));
  if (error != 0) return {};
  for (const int rank : in_world)
    if (rank < 0 || static_cast<std::size_t>(rank) >= known_present.size()) return {};
  return in_world;
}

// Everybody is asked about only once: connections to a rank that is there are never taken off its queue.
bool all_present(const std::vector<int>& ranks) {
  for (const int rank : ranks) {
    std::atomic<bool>& known = known_present[static_cast<std::size_t>(rank)];
    if (known.load(std::memory_order_relaxed)) continue;
    if (!is_present(job, rank)) return false;
    known.store(true, std::memory_order_relaxed);  // says nothing about other memory
  }
  return true;
}

struct Agreement {
  bool settings = false;  // are the same on all ranks
  int kept_group = 0;     // the number of a group that all have kept, or 0
};

// One collective of the host for all that must be the same: the least of each number and of its negative.
Agreement compare_with_others(Word comm, int kept) {
  const int high = static_cast<int>(settings_digest >> 33);
  const int low = static_cast<int>(settings_digest & 0x7fffffff);
  const std::array<int, 6> own{high, low, kept, -high, -low, -kept};
  std::array<int, 6> least{};
  Agreement agreement;
  if (host<Symbol::MPI_Allreduce>(as_word(own.data()), as_word(least.data()), own.size(), abi::int_type(),
                                  abi::min_op(), comm) != 0)
    return agreement;
  agreement.settings = least[0] == -least[3] && least[1] == -least[4];
  if (least[2] == -least[5]) agreement.kept_group = kept;
  return agreement;
}

void leave_to_host(Communicator& communicator, Reason reason) {
  communicator.stage = Stage::host;
  communicator.reason = reason;
}

void agree(Communicator& communicator) {
  const std::vector<int> members = world_ranks(communicator);
  if (members.empty() || !all_present(members)) return leave_to_host(communicator, Reason::not_agreed);
  if (communicator.ranks == static_cast<int>(known_present.size()) && !threads_may_call)
    whole_world_known.store(true, std::memory_order_relaxed);  // read by the same thread only
  const Agreement agreement = compare_with_others(communicator.handle, kept_group(members));
  if (!agreement.settings) return leave_to_host(communicator, Reason::settings_differ);
  communicator.group = agreement.kept_group ? take_kept_group(members, agreement.kept_group)
                                            : NodeGroup::make(communicator.handle, communicator.rank, members);
  if (!communicator.group) return leave_to_host(communicator, Reason::no_shared_memory);
  communicator.stage = Stage::active;
}

}  // namespace

bool prepare_agreement(int world_rank, int world_ranks) {
  if (host<Symbol::MPI_Comm_group>(abi::comm_world(), as_word(&world_group)) != 0) return false;
  world_group = abi::handle(world_group);
  int level = 0;
  host<Symbol::MPI_Query_thread>(as_word(&level));
  threads_may_call = level == abi::thread_multiple;
  settings_digest = digest_of_settings();
  known_present = std::vector<std::atomic<bool>>(static_cast<std::size_t>(world_ranks));
  job = job_key();
  return prepare_communicators() && announce_presence(job, world_rank);
}

void forget_agreement() {
  if (world_group == 0) return;
  forget_communicators();
  withdraw_presence();
  host<Symbol::MPI_Group_free>(as_word(&world_group));
  world_group = 0;
  whole_world_known.store(false, std::memory_order_relaxed);
}

void advance_agreement(Communicator& communicator, bool synchronising) noexcept try {
  if (communicator.stage != Stage::undecided) return;
  if (!synchronising && !whole_world_known.load(std::memory_order_relaxed)) return;
  if (++communicator.calls >= calls_before_agreement) agree(communicator);
} catch (...) {
  // Out of memory on this rank alone: the others may be waiting in a collective of the host by now. Nothing that we
  // could do would be right for them, and a process without memory for a few integers will not go on for long.
  log(LogLevel::error, "no memory to agree on shared memory with the other ranks");
  communicator.stage = Stage::host;
}

}  // namespace millrace::shim
