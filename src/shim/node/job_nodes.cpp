#include "shim/node/job_nodes.h"

#include <fmt/format.h>
#include <pthread.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>

#include "abi.h"
#include "base/launcher.h"
#include "base/log.h"
#include "node/board.h"
#include "node/node_split.h"
#include "shared_memory/own_core.h"
#include "shared_memory/processors.h"
#include "shim/bind/forward.h"
#include "shim/bind/host.h"
#include "shim/host/library_version.h"
#include "shim/node/node_agreement.h"
#include "shim/node/nodes_mail.h"

namespace millrace::shim {
namespace {

constexpr Word meeting_tag = 4711;
constexpr int exit_code_of_missing_ranks = 1;

Word own_comm = 0;
std::vector<NodeCard> cards;

// Ends the process if something takes too long: what it waits for are ranks that never come.
class Watch {
 public:
  Watch(std::uint32_t seconds, int rank) : seconds_(seconds), rank_(rank) {
    sigset_t all, former;  // the program's signals are for the program's threads
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &former);
    thread_ = std::thread([this] { watch(); });
    pthread_sigmask(SIG_SETMASK, &former, nullptr);
  }
  ~Watch() {
    {
      const std::lock_guard hold(mutex_);
      is_over_ = true;
    }
    changed_.notify_one();
    thread_.join();
  }
  Watch(const Watch&) = delete;
  Watch& operator=(const Watch&) = delete;

 private:
  void watch() {
    std::unique_lock hold(mutex_);
    if (changed_.wait_for(hold, std::chrono::seconds(seconds_), [this] { return is_over_; })) return;
    std::fprintf(stderr,
                 "millrace: rank %d: not all ranks of the job have come within %u s: they run without Millrace; start "
                 "all of them with it, or set MILLRACE_NODES=never\n",
                 rank_, seconds_);
    _exit(exit_code_of_missing_ranks);
  }

  std::uint32_t seconds_;
  int rank_;
  std::mutex mutex_;
  std::condition_variable changed_;
  bool is_over_ = false;
  std::thread thread_;
};

// While it lives, the host looks at its sockets whenever it waits: ranks that meet connect for the first time.
class EventUser {
 public:
  EventUser() {
    if constexpr (abi::more_event_users != nullptr) {
      const auto more = reinterpret_cast<void (*)()>(find_libmpi_object(abi::more_event_users));
      fewer_ = reinterpret_cast<void (*)()>(find_libmpi_object(abi::fewer_event_users));
      if (!more) fewer_ = nullptr;
      if (fewer_) more();
    }
  }
  ~EventUser() {
    if (fewer_) fewer_();
  }
  EventUser(const EventUser&) = delete;
  EventUser& operator=(const EventUser&) = delete;

 private:
  void (*fewer_)() = nullptr;
};

bool is_marked() {
  const char* const mark = std::getenv(whole_job_variable);
  if (!mark) return false;
  const std::string_view text = mark;
  int process = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), process);
  return error == std::errc{} && end == text.data() + text.size() && process == getpid();
}

bool all_will_come(const SettingValues& settings) {
  if (settings.nodes == When::never || settings.collectives == When::never) return false;
  return settings.nodes == When::always || is_marked();
}

// The lowest rank that this one shares memory with: all of them find the same.
std::uint32_t lowest_here(std::uint32_t own) {
  const node::Board* const board = job_board();
  for (std::uint32_t rank = 0; board && rank < own; ++rank)
    if (board->is_here(rank)) return rank;
  return own;
}

bool exchange_cards(int world_rank, int world_ranks, const shared_memory::ProcessorSet& processors) {
  if (host<Symbol::MPI_Comm_set_errhandler>(own_comm, abi::errors_return()) != 0) return false;
  // From here on all have joined the boards of their nodes.
  if (host<Symbol::MPI_Barrier>(own_comm) != 0) return false;
  NodeCard own;
  own.digest = job_digest();
  own.node = lowest_here(static_cast<std::uint32_t>(world_rank));
  own.shares_memory = job_board() != nullptr;
  own.processors = processors.name;
  cards.resize(static_cast<std::size_t>(world_ranks));
  const Word type = abi::byte_type();
  return host<Symbol::MPI_Allgather>(as_word(&own), sizeof own, type, as_word(cards.data()), sizeof own, type,
                                     own_comm) == 0;
}

// Nodes that are containers of one machine may have the same processors, and know nothing of each other's ranks there.
bool share_processors(const shared_memory::ProcessorSet& own) {
  const auto with_same = [&](const NodeCard& card) { return own.name != 0 && card.processors == own.name; };
  return std::count_if(cards.begin(), cards.end(), with_same) > static_cast<std::ptrdiff_t>(own.count);
}

}  // namespace

std::optional<std::vector<std::uint32_t>> pretended_nodes(const SettingValues& settings, int world_ranks) {
  if (settings.node_split.empty()) return std::nullopt;
  return node::split_nodes(settings.node_split, static_cast<std::uint32_t>(world_ranks));
}

void meet_other_nodes(const SettingValues& settings, int world_rank, int world_ranks) {
  if (own_comm != 0 || world_ranks < 2 || !all_will_come(settings) || was_spawned()) return;
  const bool pretends = pretended_nodes(settings, world_ranks).has_value();
  if (!settings.node_split.empty() && !pretends && world_rank == 0)
    log(LogLevel::warning, fmt::format("MILLRACE_NODE_SPLIT={}: neither sizes of nodes (2+1+4) nor a node for each "
                                       "rank (0,1,0,1): ignored",
                                       settings.node_split));
  if (!pretends && told_all_here(world_ranks)) return;
  const Watch watch(settings.nodes_wait_seconds, world_rank);
  const EventUser in_a_hurry;
  Word group = 0, made = 0;
  if (host<Symbol::MPI_Comm_group>(abi::comm_world(), as_word(&group)) != 0) return;
  const int error =
      host<Symbol::MPI_Comm_create_group>(abi::comm_world(), abi::handle(group), meeting_tag, as_word(&made));
  host<Symbol::MPI_Group_free>(as_word(&group));
  if (error != 0) return;
  own_comm = abi::handle(made);
  const shared_memory::ProcessorSet processors = shared_memory::own_processor_set();
  if (exchange_cards(world_rank, world_ranks, processors)) {
    open_nodes_mail(own_comm, world_ranks);
    bool one_node = true;
    for (const NodeCard& card : cards) one_node = one_node && card.node == cards[0].node;
    const bool shares = !one_node && share_processors(processors);
    if (shares && host_facts().gives_shared_core_away) shared_memory::own_core().share();
    if (world_rank == 0)
      log(LogLevel::info, one_node ? "all ranks of the job are on one node"
                          : shares ? "the ranks of all nodes have met; there are more of them than processors"
                                   : "the ranks of all nodes have met");
    return;
  }
  // The host has failed; what the others know is not known.
  log(LogLevel::error, fmt::format("rank {}: the host cannot make the ranks of all nodes meet", world_rank));
  host<Symbol::MPI_Abort>(abi::comm_world(), abi::err_intern);
}

void leave_other_nodes() {
  if (own_comm == 0) return;
  close_nodes_mail();
  cards.clear();
  Word freed = own_comm;
  host<Symbol::MPI_Comm_free>(as_word(&freed));
  own_comm = 0;
}

Word nodes_comm() { return own_comm; }

const std::vector<NodeCard>& node_cards() { return cards; }

}  // namespace millrace::shim
