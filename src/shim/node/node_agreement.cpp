#include "shim/node/node_agreement.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <numeric>
#include <string>
#include <string_view>
#include <vector>

#include "abi.h"
#include "base/hash.h"
#include "base/launcher.h"
#include "base/log.h"
#include "base/machine.h"
#include "node/board.h"
#include "node/job_key.h"
#include "node/short_lives.h"
#include "shared_memory/processors.h"
#include "shim/bind/attention.h"
#include "shim/bind/forward.h"
#include "shim/host/bypass.h"
#include "shim/host/library_version.h"
#include "shim/host/tuning.h"
#include "shim/node/announce.h"
#include "shim/node/job_nodes.h"
#include "shim/node/node_accord.h"
#include "shim/node/nodes_accord.h"

namespace millrace::shim {
namespace {

using node::Agreement;
using node::Identity;
using record::Reason;
using Stage = Communicator::Stage;

node::Board* board = nullptr;
Word world_group = 0;
std::uint64_t settings_digest = 0;
bool trusts_numbers = false;  // MILLRACE_PMPI=alike
bool shares_all = false;      // MILLRACE_COLLECTIVES=always
bool asks_order = false;      // MILLRACE_ORDER=rank: what the host does has its order
bool is_learning = false;     // MILLRACE_LEARN
node::ShortLives short_lives;
std::uint64_t worth_agreeing = 0;  // MILLRACE_AGREE_AFTER: calls of a few bytes. Over nodes the 257th is proposed.
constexpr std::uint64_t bytes_of_worth = 8192;  // that gain as much as one more of them
bool (*may_run_in_background)() = nullptr;

// Processors are told apart from those of other ranks of this node only.
shared_memory::ProcessorSet own_set_here() { return processor_set(shared_memory::own_affinity(), "this node"); }

std::uint64_t mix(std::uint64_t value, std::uint64_t next) {
  value = (value ^ next) * 0xff51afd7ed558ccdu;
  return value ^ value >> 32;
}

Identity mix(const Identity& identity, std::uint64_t next) {
  return {mix(identity.low, next), mix(identity.high + golden_ratio, next)};
}

std::uint64_t digest(std::string_view text, std::uint64_t digest) { return fnv1a(fnv1a(text, digest), 0xff); }

// What must be equal on all ranks for them to choose alike: every setting but those that change nothing that others
// see.
std::uint64_t digest_of_settings(int world_ranks) {
  std::uint64_t all = fnv1a_start;
  for (const Setting& setting : settings()) {
    const std::string_view variable = setting.variable;
    if (variable == "MILLRACE_REPORT" || variable == "MILLRACE_LOG") continue;
    all = digest(setting_text(setting, environ), all);
  }
  all = mix(digest(library_version(), all), tuning().digest);
  // Which rows of it hold hangs on these.
  if (!tuning().learned.empty()) all = mix(digest(machine_name(), all), static_cast<std::uint64_t>(world_ranks));
  return all;
}

void leave_to_host(Communicator& communicator, Reason reason) {
  communicator.stage = Stage::host;
  communicator.reason = reason;
  announce(communicator);
}

// Some may not be there yet; who is must have the same settings.
bool settings_differ(const std::vector<int>& members) {
  return std::any_of(members.begin(), members.end(), [](int member) {
    const auto rank = static_cast<std::uint32_t>(member);
    return board->is_here(rank) && board->member(rank).digest != settings_digest;
  });
}

bool are_apart(const std::vector<int>& members) {
  const std::vector<NodeCard>& cards = node_cards();
  if (cards.empty()) return false;
  const auto node_of = [&](int member) { return cards[static_cast<std::size_t>(member)].node; };
  return std::any_of(members.begin(), members.end(),
                     [&](int member) { return node_of(member) != node_of(members[0]); });
}

// `identity`: of these members, on several nodes. What is looked at here all ranks see alike, or this one never joins.
void join_other_nodes(Communicator& communicator, const Identity& identity, std::vector<int>&& members) {
  if (communicator.is_background || communicator.lost_count || !NodesGroup::has_room())
    return leave_to_host(communicator, Reason::not_over_nodes);
  for (const int member : members) {
    const NodeCard& card = node_cards()[static_cast<std::size_t>(member)];
    if (card.shares_memory == 0) return leave_to_host(communicator, Reason::no_shared_memory);
    if (card.digest != settings_digest) return leave_to_host(communicator, Reason::settings_differ);
  }
  communicator.nodes_accord =
      std::make_unique<NodesAccord>(identity, static_cast<std::uint32_t>(communicator.rank), std::move(members),
                                    communicator.calls, communicator.history);
}

// Whether ranks that may run where this one may are more than there are processors: their host waits for time slices in
// each call, and agreeing pays at once. Quotas are not looked at: to read them takes 170 us, and under one ranks still
// run side by side, though not all of the time.
bool is_crowded() {
  static const std::uint32_t processors = own_set_here().count;
  // How many were here when that was last found out, and what it was. Who has joined stays.
  static std::atomic<std::uint64_t> known{0};
  const std::uint64_t joined = board->joined();
  if (const std::uint64_t found = known.load(std::memory_order_relaxed); found >> 1 == joined) return found & 1;
  const std::uint64_t own = board->member(board->rank()).processors;
  std::uint32_t alike = 0;
  for (std::uint32_t rank = 0; rank < board->world_ranks(); ++rank)
    alike += board->is_here(rank) && board->member(rank).processors == own ? 1 : 0;
  const bool crowded = alike > processors;
  known.store(joined << 1 | (crowded ? 1 : 0), std::memory_order_relaxed);
  return crowded;
}

bool is_worth_it(const Communicator& communicator) {
  if (shares_all || asks_order || is_learning || communicator.worth >= worth_agreeing) return true;
  return !communicator.is_apart && is_crowded();
}

void join_record(Communicator& communicator) {
  // Nobody shares a communicator that one of its ranks never joins.
  if (!trusts_numbers && numbers_may_be_wrong(Numbered::blocking))
    return leave_to_host(communicator, Reason::unseen_calls);
  if (communicator.is_background) {
    if (!trusts_numbers && numbers_may_be_wrong(Numbered::nonblocking))
      return leave_to_host(communicator, Reason::unseen_calls);
    if (completions_may_be_unseen()) return leave_to_host(communicator, Reason::unseen_completion);
    if (!may_run_in_background || !may_run_in_background()) return leave_to_host(communicator, Reason::not_agreed);
  }
  std::vector<int> members = world_ranks_of(communicator.handle);
  if (members.empty()) return leave_to_host(communicator, Reason::not_agreed);
  if (settings_differ(members)) return leave_to_host(communicator, Reason::settings_differ);
  Identity identity = mix(communicator.identity, settings_digest);
  for (const int member : members) identity = mix(identity, static_cast<std::uint64_t>(member));
  if (identity == Identity{}) identity.low = 1;
  if (are_apart(members)) {
    // Each rank tells by itself: nothing begins before all have joined.
    communicator.is_apart = true;
    if (!communicator.lost_count && !communicator.is_background && !is_worth_it(communicator)) return;
    return join_other_nodes(communicator, identity, std::move(members));
  }
  communicator.accord =
      NodeAccord::join(*board, identity, static_cast<std::uint32_t>(communicator.rank),
                       static_cast<std::uint32_t>(communicator.ranks), communicator.calls, communicator.history);
  if (!communicator.accord) return leave_to_host(communicator, Reason::no_shared_memory);
  if (!communicator.lost_count) return;
  communicator.accord->agreement().spoil();
  leave_to_host(communicator, Reason::not_agreed);
}

void follow(Communicator& communicator, Agreement::State state) {
  NodeAccord& accord = *communicator.accord;
  if (state == Agreement::State::shared) {
    communicator.group = accord.take_group();
    communicator.stage = Stage::active;
    // All have joined it: nothing is waited for. What breaks it, breaks it for all, and the call says so.
    communicator.group->group().start();
    announce(communicator);
  } else if (state == Agreement::State::host) {
    leave_to_host(communicator, Reason::not_agreed);
  } else {
    communicator.reason = accord.lacks_memory() ? Reason::no_shared_memory : Reason::not_agreed;
  }
}

void follow_nodes(Communicator& communicator, NodesAccord::State state) {
  if (state == NodesAccord::State::undecided) return;
  std::unique_ptr<NodesGroup> made;
  if (state == NodesAccord::State::shared) made = communicator.nodes_accord->make_group();
  if (!made)
    return leave_to_host(communicator,
                         state == NodesAccord::State::shared ? Reason::no_shared_memory : Reason::not_agreed);
  communicator.group = made->take_group();
  communicator.nodes = std::move(made);
  communicator.stage = Stage::active;
  announce(communicator);
}

// So that ranks that sleep in our collectives are woken by those that call the host.
void take_seat(bool spawned) {
  if (board->world_ranks() > shared_memory::Attention::most_seats) return;
  shared_memory::Attention& attention = board->attention();
  use_seating({&attention, board->rank(), board->world_ranks()});
  if (board->joined() == board->world_ranks() && !spawned)
    attention.everybody_rings.store(1, std::memory_order_relaxed);
}

}  // namespace

// Processes started by MPI_Comm_spawn may have the launcher's daemon in common with others that were.
bool was_spawned() {
  Word parent = 0;
  if (host<Symbol::MPI_Comm_get_parent>(as_word(&parent)) != 0) return true;
  return abi::handle(parent) != abi::comm_null();
}

std::uint64_t job_digest() { return settings_digest; }

void join_job_board(const SettingValues& settings, int world_rank, int world_ranks) {
  if (board || world_ranks < 2) return;
  settings_digest = digest_of_settings(world_ranks);
  trusts_numbers = settings.pmpi == PmpiCalls::alike;
  shares_all = settings.collectives == When::always;
  asks_order = settings.order == ReductionOrder::rank;
  is_learning = !settings.learn.empty();
  worth_agreeing = settings.agree_after_calls;
  const bool spawned = was_spawned();
  node::JoinRequest request;
  request.key = fmt::format("millrace={} spawned={} ranks={} {}", MILLRACE_VERSION, spawned, world_ranks,
                            node::job_key(node::process_sources(world_rank)));
  request.rank = static_cast<std::uint32_t>(world_rank);
  request.world_ranks = static_cast<std::uint32_t>(world_ranks);
  request.ranks_here = static_cast<std::uint32_t>(told_local_ranks());
  if (const auto pretended = pretended_nodes(settings, world_ranks)) {
    const std::uint32_t own = (*pretended)[static_cast<std::size_t>(world_rank)];
    request.key += fmt::format(" node={}", own);
    if (request.ranks_here != 0)
      request.ranks_here = static_cast<std::uint32_t>(std::count(pretended->begin(), pretended->end(), own));
  }
  request.digest = settings_digest;
  request.processors = own_set_here().name;
  request.reports = settings.reports();
  std::string why_not;
  board = node::Board::join(request, why_not);
  if (board)
    take_seat(spawned);
  else
    log(LogLevel::info, fmt::format("nothing is shared with the other ranks of this node: {}", why_not));
}

void leave_job_board() {
  if (board) board->leave();
  board = nullptr;
}

bool prepare_agreement() {
  if (!board || host<Symbol::MPI_Comm_group>(abi::comm_world(), as_word(&world_group)) != 0) return false;
  world_group = abi::handle(world_group);
  if (!prepare_communicators()) return false;
  const Identity world{0x4d50495f434f4d4d, 0x5f574f524c440000};  // a name like any other
  // On this one everything is the host's; some hosts hide errors, and what is called on is not known to be one there.
  register_communicator(abi::comm_self(), nullptr);
  return register_communicator(abi::comm_world(), &world) != nullptr;
}

void forget_agreement() {
  NodesGroup::leave_to_finalize();
  forget_communicators();
  if (world_group != 0) host<Symbol::MPI_Group_free>(as_word(&world_group));
  world_group = 0;
}

node::Board* job_board() { return board; }

std::vector<int> world_ranks_of(Word comm) {
  Word group = 0;
  if (host<Symbol::MPI_Comm_group>(comm, as_word(&group)) != 0) return {};
  std::vector<int> in_world = world_ranks_of_group(abi::handle(group));
  host<Symbol::MPI_Group_free>(as_word(&group));
  return in_world;
}

std::vector<int> world_ranks_of_group(Word group) {
  int ranks = 0;
  if (!board || world_group == 0 || host<Symbol::MPI_Group_size>(group, as_word(&ranks)) != 0) return {};
  std::vector<int> own(static_cast<std::size_t>(ranks));
  std::vector<int> in_world(own.size(), -1);
  std::iota(own.begin(), own.end(), 0);
  const int error =
      host<Symbol::MPI_Group_translate_ranks>(group, ranks, as_word(own.data()), world_group, as_word(in_world.data()));
  const auto known = [](int rank) { return rank >= 0 && static_cast<std::uint32_t>(rank) < board->world_ranks(); };
  if (error != 0 || !std::all_of(in_world.begin(), in_world.end(), known)) return {};
  return in_world;
}

void before_host_call(Communicator& communicator, bool synchronises) noexcept {
  if (communicator.nodes_accord)
    return follow_nodes(communicator, communicator.nodes_accord->enter(communicator.calls, synchronises));
  if (communicator.accord) follow(communicator, communicator.accord->agreement().enter());
}

bool weighs_calls(const Communicator& communicator) { return !communicator.accord && !communicator.nodes_accord; }

void after_host_call(Communicator& communicator, std::uint64_t kind, std::uint64_t bytes, bool succeeded,
                     bool synchronised) noexcept try {
  if (communicator.stage != Stage::undecided) return;
  if (succeeded) {
    ++communicator.calls;
    communicator.history = Agreement::history_after(communicator.history, kind);
    communicator.worth += 1 + bytes / bytes_of_worth;
  } else {
    communicator.lost_count = true;
  }
  if (communicator.nodes_accord) {
    if (succeeded) return;
    communicator.nodes_accord->spoil();
    leave_to_host(communicator, Reason::not_agreed);
  } else if (communicator.accord)
    follow(communicator, communicator.accord->agreement().leave(kind, succeeded, synchronised));
  else if (!communicator.has_identity)
    leave_to_host(communicator, Reason::not_agreed);
  else if (communicator.lost_count ||
           (communicator.calls >= short_lives.calls_before_agreement() && is_worth_it(communicator)))
    join_record(communicator);
} catch (...) {
  // Out of memory on this rank alone: it never joins, and so nobody ever shares.
  leave_to_host(communicator, Reason::no_shared_memory);
}

void ask_before_background(bool (*may_run)()) { may_run_in_background = may_run; }

void agreement_ended(std::uint64_t shared_calls) noexcept {
  if (!shares_all) short_lives.ended(shared_calls);
}

node::Identity in_background(const Identity& communicator, std::uint64_t part) {
  const Identity nonblocking = mix(communicator, 0x62616b67726f756e);
  return part == 0 ? nonblocking : mix(nonblocking, part);
}

node::Identity next_child(Communicator& parent, std::uint64_t kind) noexcept {
  // The calls so far are in the name, so that ranks that have seen other calls, or not all of the constructors, do not
  // take two communicators for one.
  return mix(mix(mix(parent.identity, kind), ++parent.children), parent.calls);
}

node::Identity next_of_group(Communicator& parent, Word made, std::uint64_t kind, int tag) noexcept try {
  int ranks = 0;
  if (host<Symbol::MPI_Comm_size>(made, as_word(&ranks)) != 0) return {};
  Identity identity = mix(mix(parent.identity, kind), static_cast<std::uint64_t>(tag));
  for (const int member : world_ranks_of(made)) identity = mix(identity, static_cast<std::uint64_t>(member));
  // Only its members know of it, so nothing that all ranks of the parent count may change.
  return mix(identity, ++parent.groups[identity.low]);
} catch (...) {
  return {};
}

}  // namespace millrace::shim
