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

Presence& presence = *new Presence;  // never destroyed, as every registry of the shim
Word world_group = 0;
std::vector<std::atomic<bool>> known_present;  // by rank of MPI_COMM_WORLD; once true, for ever
std::uint64_t settings_digest = 0;

// What all ranks know of MPI_COMM_WORLD, from the same call of the program on: nothing more (also where threads may
// make calls in any order), that all its ranks are there and have one thread in MPI, or that it cannot be known before
// a call that synchronises. Read and written by one thread, if it is not `closed` from the beginning.
enum class World : std::uint8_t { open, whole, closed };
std::atomic<World> world{World::closed};
// Collectives on communicators of all ranks so far, and at which of them the next round of Presence is due.
std::uint64_t world_calls = 0;
int next_round = 0;
std::uint64_t next_round_call = 1;
constexpr std::uint64_t calls_between_rounds = 16;  // times as many each time

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
    if (!presence.finds(rank)) return false;
    known.store(true, std::memory_order_relaxed);  // says nothing about other memory
  }
  return true;
}

World world_state() { return world.load(std::memory_order_relaxed); }

bool is_of_all_ranks(const Communicator& communicator) {
  return static_cast<std::size_t>(communicator.ranks) == known_present.size();
}

// In a call that synchronises everybody who will ever announce himself has done so.
World world_after_synchronising() {
  for (std::size_t rank = 0; rank < known_present.size(); ++rank) {
    const int number = static_cast<int>(rank);
    if (!presence.finds(number) || presence.finds_threads(number)) return World::closed;
    known_present[rank].store(true, std::memory_order_relaxed);  // says nothing about other memory
  }
  return World::whole;
}

// At every collective on a communicator of all ranks, which they all call in the same order: one that does not could
// not work with a host whose collectives synchronise.
void learn_about_world(const Communicator& communicator, bool synchronising) {
  if (world_state() != World::open || !is_of_all_ranks(communicator) || world_ranks(communicator).empty()) return;
  ++world_calls;
  if (synchronising) {
    world.store(world_after_synchronising(), std::memory_order_relaxed);
    presence.end_rounds();
  } else if (world_calls == next_round_call && next_round < Presence::rounds) {
    next_round_call *= calls_between_rounds;
    if (presence.ranks_are_there(next_round++)) world.store(World::whole, std::memory_order_relaxed);
  }
}

struct Agreement {
  bool settings = false;    // are the same on all ranks
  bool kept_group = false;  // all have kept the same one
};

// One collective of the host for all that must be the same: the least of each number and of its negative. `kept`: the
// number of a group, 0 for none.
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
  agreement.kept_group = kept != 0 && least[2] == -least[5];
  return agreement;
}

void leave_to_host(Communicator& communicator, Reason reason) {
  communicator.stage = Stage::host;
  communicator.reason = reason;
}

void agree(Communicator& communicator) {
  const std::vector<int> members = world_ranks(communicator);
  if (members.empty() || !all_present(members)) return leave_to_host(communicator, Reason::not_agreed);
  std::unique_ptr<NodeGroup> kept = take_kept_group(members);
  const Agreement agreement = compare_with_others(communicator.handle, kept ? kept->number() : 0);
  // Everybody has answered every round that came before this call.
  if (world_state() == World::whole && is_of_all_ranks(communicator)) presence.end_rounds();
  if (!agreement.settings || !agreement.kept_group) return_kept_group(std::move(kept));
  if (!agreement.settings) return leave_to_host(communicator, Reason::settings_differ);
  communicator.group =
      agreement.kept_group ? std::move(kept) : NodeGroup::make(communicator.handle, communicator.rank, members);
  if (!communicator.group) return leave_to_host(communicator, Reason::no_shared_memory);
  communicator.stage = Stage::active;
}

}  // namespace

bool prepare_agreement(int world_rank, int world_ranks) {
  if (host<Symbol::MPI_Comm_group>(abi::comm_world(), as_word(&world_group)) != 0) return false;
  world_group = abi::handle(world_group);
  int level = 0;
  host<Symbol::MPI_Query_thread>(as_word(&level));
  const bool threads_may_call = level == abi::thread_multiple;
  settings_digest = digest_of_settings();
  known_present = std::vector<std::atomic<bool>>(static_cast<std::size_t>(world_ranks));
  world.store(threads_may_call ? World::closed : World::open, std::memory_order_relaxed);
  return prepare_communicators() && presence.announce(job_key(), world_rank, world_ranks, threads_may_call);
}

void forget_agreement() {
  if (world_group == 0) return;
  forget_communicators();
  presence.withdraw();
  host<Symbol::MPI_Group_free>(as_word(&world_group));
  world_group = 0;
  world.store(World::closed, std::memory_order_relaxed);
}

void advance_agreement(Communicator& communicator, bool synchronising) noexcept try {
  if (communicator.stage != Stage::undecided) return;
  ++communicator.calls;
  learn_about_world(communicator, synchronising);
  if (!synchronising && world_state() != World::whole) return;
  if (communicator.calls >= calls_before_agreement) agree(communicator);
} catch (...) {
  // Out of memory on this rank alone: the others may be waiting in a collective of the host by now. Nothing that we
  // could do would be right for them, and a process without memory for a few integers will not go on for long.
  log(LogLevel::error, "no memory to agree on shared memory with the other ranks");
  communicator.stage = Stage::host;
}

}  // namespace millrace::shim
