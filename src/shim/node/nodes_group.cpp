#include "shim/node/nodes_group.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <new>
#include <utility>

#include "abi.h"
#include "base/hash.h"
#include "shim/bind/forward.h"
#include "shim/node/job_nodes.h"
#include "shim/node/node_agreement.h"

namespace millrace::shim {
namespace {

std::atomic<int> alive{0};
std::atomic<bool> frees_lines{true};
bool (*prepare_rank)() noexcept = nullptr;

// A communicator of the host of all members, or 0. Collective over them.
Word communicator_of(const std::vector<int>& members, const node::Identity& identity) {
  Word all = 0, group = 0, made = 0;
  if (host<Symbol::MPI_Comm_group>(nodes_comm(), as_word(&all)) != 0) return 0;
  int error = host<Symbol::MPI_Group_incl>(abi::handle(all), members.size(), as_word(members.data()), as_word(&group));
  host<Symbol::MPI_Group_free>(as_word(&all));
  if (error != 0) return 0;
  // Threads may make several with common ranks at a time.
  const Word tag = (identity.low ^ identity.high) % 16384;
  error = host<Symbol::MPI_Comm_create_group>(nodes_comm(), abi::handle(group), tag, as_word(&made));
  host<Symbol::MPI_Group_free>(as_word(&group));
  return error == 0 ? abi::handle(made) : 0;
}

// The least of all members; 0 if the host fails.
template <std::size_t count>
std::array<int, count> least_of_all(Word comm, std::array<int, count> values) {
  const int error =
      host<Symbol::MPI_Allreduce>(abi::in_place, as_word(values.data()), count, abi::int_type(), abi::min_op(), comm);
  return error == 0 ? values : std::array<int, count>{};
}

}  // namespace

NodesGroup::NodesGroup() { alive.fetch_add(1, std::memory_order_relaxed); }

NodesGroup::~NodesGroup() {
  group_.reset();
  here_.reset();
  accord_.reset();
  Word line = wire_.line();
  // Letters that nobody has read must not come to who gets its number next.
  const bool is_clean = across_.broken() == collective::Result::ok;
  if (line != 0 && is_clean && frees_lines.load(std::memory_order_relaxed)) host<Symbol::MPI_Comm_free>(as_word(&line));
  alive.fetch_sub(1, std::memory_order_relaxed);
}

bool NodesGroup::has_room() { return alive.load(std::memory_order_relaxed) < most_at_a_time; }

void NodesGroup::prepare_with(bool (*prepare)() noexcept) { prepare_rank = prepare; }

void NodesGroup::leave_to_finalize() { frees_lines.store(false, std::memory_order_relaxed); }

bool NodesGroup::join_here(const node::Identity& identity, const collective::NodeMap& map, std::uint32_t rank) {
  const std::uint32_t node = map.node_of(rank), places = map.places(node);
  if (places == 1) return true;
  if (!job_board()) return false;
  node::Identity own = identity;
  own.low = spread(own.low ^ (node + 1)) | 1;
  accord_ = NodeAccord::join(*job_board(), own, map.place_of(rank), places, 0, 0);
  if (accord_ && accord_->join_memory()) here_ = accord_->take_group();
  return here_ != nullptr;
}

bool NodesGroup::open_line(Word members, const collective::NodeMap& map, std::uint32_t rank) {
  const std::uint32_t place = map.place_of(rank);
  const int color = map.is_even() || place == 0 ? static_cast<int>(place) : abi::undefined;
  Word line = 0;
  if (host<Symbol::MPI_Comm_split>(members, as_word(color), map.node_of(rank), as_word(&line)) != 0) return false;
  line = abi::handle(line);
  if (line == abi::comm_null()) line = 0;
  if (line != 0) host<Symbol::MPI_Comm_set_errhandler>(line, abi::errors_return());
  wire_.open(line, map.nodes());
  return true;
}

std::unique_ptr<NodesGroup> NodesGroup::make(const node::Identity& identity, const std::vector<int>& members,
                                             std::uint32_t rank) noexcept {
  Word all = 0;
  std::unique_ptr<NodesGroup> made;
  collective::Across::Limits limits;
  collective::NodeMap map;
  bool good = true;
  // Whatever fails on this rank, the others are told; they are all here.
  try {
    all = communicator_of(members, identity);
    if (all == 0) return nullptr;  // the host says so to all of them
    host<Symbol::MPI_Comm_set_errhandler>(all, abi::errors_return());
    made.reset(new NodesGroup);
    std::vector<std::uint32_t> names;
    names.reserve(members.size());
    for (const int member : members) names.push_back(node_cards()[static_cast<std::size_t>(member)].node);
    good = map.build(names) && prepare_rank && prepare_rank() && made->join_here(identity, map, rank);
    if (good && made->here_) limits = collective::Across::limits_of(made->here_->group().shape());
  } catch (...) {
    good = false;
  }
  if (all == 0) return nullptr;
  constexpr std::size_t most_int = 0x7fffffff;
  const auto common =
      least_of_all<3>(all, {good, limits.exchanges, static_cast<int>(std::min(limits.most_element_bytes, most_int))});
  if (common[0] != 0) {
    limits = {static_cast<std::size_t>(common[2]), common[1] != 0};
    try {
      good = made->open_line(all, map, rank);
      // All have joined: nothing is waited for.
      if (good && made->here_)
        good = made->here_->group().start() == collective::Result::ok &&
               made->here_->group().broken() == collective::Result::ok;
      if (made->here_) made->steps_here_.emplace(made->here_->group());
      collective::Here* const here = made->steps_here_ ? &*made->steps_here_ : nullptr;
      good = good && made->across_.open(std::move(map), rank, here, made->wire_, limits);
      if (good) made->group_ = NodeGroup::over(made->across_);
      good = good && made->group_;
    } catch (...) {
      good = false;
    }
    good = least_of_all<1>(all, {good})[0] != 0;
  } else {
    good = false;
  }
  host<Symbol::MPI_Comm_free>(as_word(&all));
  return good ? std::move(made) : nullptr;
}

}  // namespace millrace::shim
