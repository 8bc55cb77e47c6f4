#include "shim/shared/late_ranks.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <mutex>
#include <numeric>
#include <optional>
#include <string>
#include <utility>

#include "abi.h"
#include "base/clock.h"
#include "base/files.h"
#include "base/hash.h"
#include "node/arrivals.h"
#include "shim/call/exchange_call.h"
#include "shim/node/node_accord.h"
#include "shim/node/node_agreement.h"
#include "shim/node/node_group.h"

namespace millrace::shim {
namespace {

using node::WaitsFor;

// Of this rank, in one collective on communicators of the same ranks.
struct Waited {
  std::uint64_t compared = 0, time_ns = 0, wait_ns = 0;
  std::vector<std::uint64_t> late_calls, late_ns;  // by rank of the world
};

// Communicators of more different sets of ranks than so many are one.
constexpr std::size_t most_communicators = 64;

struct Waits {
  std::mutex mutex;
  std::map<std::string, std::map<std::uint16_t, Waited>> by_communicator;
};
// Never destroyed: threads may outlive the end of the program.
Waits& state() {
  static Waits& only = *new Waits;
  return only;
}

std::string name_of(Word comm, const std::vector<int>& seats) {
  if (comm == abi::comm_world()) return "MPI_COMM_WORLD";
  std::vector<int> sorted = seats;
  std::sort(sorted.begin(), sorted.end());
  constexpr std::size_t most_letters = 60;
  std::string list = format_list(sorted);
  if (list.size() > most_letters) list = list.substr(0, most_letters) + "...";
  return fmt::format("ranks {}", list);
}

// To look at what every rank has said takes longer the more there are; so of many ranks not every call is compared.
// All ranks of the communicator compare the same ones, which a period of the program does not choose.
constexpr std::uint32_t ranks_looked_at = 32;

class Compared {
 public:
  Compared(char* memory, const Communicator& communicator, std::vector<int> seats, std::size_t world_ranks,
           std::map<std::uint16_t, Waited>& waited)
      : arrivals_(memory, static_cast<std::uint32_t>(communicator.rank),
                  static_cast<std::uint32_t>(communicator.ranks)),
        seats_(std::move(seats)),
        world_ranks_(world_ranks),
        waited_(waited),
        stride_((static_cast<std::uint32_t>(communicator.ranks) + ranks_looked_at - 1) / ranks_looked_at) {}

  void come(std::uint64_t call) {
    is_inside_ = true;
    call_ = call;
    entry_ns_ = monotonic_ns();
    arrivals_.come(call, entry_ns_);
  }

  void leave(WaitsFor waits, std::uint32_t root, std::uint16_t entry) {
    if (!std::exchange(is_inside_, false) || (stride_ > 1 && spread(call_) % stride_ != 0)) return;
    const node::Meeting meeting = arrivals_.leave(waits, root);
    if (!meeting.is_known) return;
    const std::uint64_t time_ns = monotonic_ns() - entry_ns_, wait_ns = std::min(meeting.wait_ns, time_ns);
    const std::lock_guard hold(state().mutex);
    Waited& sum = waited_[entry];
    sum.late_calls.resize(world_ranks_);
    sum.late_ns.resize(world_ranks_);
    ++sum.compared;
    sum.time_ns += time_ns;
    sum.wait_ns += wait_ns;
    if (meeting.is_late) ++sum.late_calls[seat(arrivals_.rank())];
    if (wait_ns == 0) return;
    sum.late_ns[seat(meeting.last_rank)] += wait_ns;
    if (waits == WaitsFor::root_for_all) ++sum.late_calls[seat(meeting.last_rank)];  // nobody else can tell
  }

  void withdraw() { arrivals_.withdraw(); }

 private:
  std::size_t seat(std::uint32_t rank) const { return static_cast<std::size_t>(seats_[rank]); }

  node::Arrivals arrivals_;
  std::vector<int> seats_;  // of its ranks in MPI_COMM_WORLD
  std::size_t world_ranks_;
  std::map<std::uint16_t, Waited>& waited_;
  std::uint32_t stride_;
  bool is_inside_ = false;
  std::uint64_t call_ = 0, entry_ns_ = 0;
};

// Without a value: nothing can be said.
struct LateRanks : KeptWithCommunicator {
  std::optional<Compared> compared;
};

void begin(LateRanks& late, const Communicator& communicator) {
  node::Board* const board = job_board();
  if (!board || !communicator.accord || communicator.group->group().across()) return;
  std::vector<int> seats = world_ranks_of(communicator.handle);
  if (seats.size() != static_cast<std::size_t>(communicator.ranks)) return;  // some are of another world
  const std::size_t bytes = node::Arrivals::bytes(static_cast<std::uint32_t>(communicator.ranks));
  char* const memory = communicator.accord->find_arrivals(bytes);
  if (!memory) return;
  Waits& all = state();
  const std::lock_guard hold(all.mutex);
  std::string name = name_of(communicator.handle, seats);
  if (all.by_communicator.size() >= most_communicators && !all.by_communicator.contains(name)) name = "others";
  late.compared.emplace(memory, communicator, std::move(seats), board->world_ranks(), all.by_communicator[name]);
}

Compared* compared(const Communicator& communicator) {
  auto* const late = static_cast<LateRanks*>(communicator.late_ranks.get());
  return late && late->compared ? &*late->compared : nullptr;
}

// Nothing for a call in which ranks wait for some others only.
std::optional<WaitsFor> waits_of(const CollectiveCall& call) {
  switch (call.kind) {
    case CollectiveKind::bcast: return WaitsFor::root;
    case CollectiveKind::reduce: return WaitsFor::root_for_all;
    case CollectiveKind::scan:
    case CollectiveKind::exscan: return WaitsFor::lower_ranks;
    case CollectiveKind::exchange: break;
    default: return WaitsFor::all;
  }
  switch (call.exchange->shape.kind) {
    case ExchangeKind::gather: return WaitsFor::root_for_all;
    case ExchangeKind::scatter: return WaitsFor::root;
    case ExchangeKind::allgather:
    case ExchangeKind::alltoall: return WaitsFor::all;
    default: return std::nullopt;
  }
}

int root_of(const CollectiveCall& call) {
  if (call.kind != CollectiveKind::exchange) return call.root;
  return call.exchange->shape.is_rooted() ? call.exchange->root() : 0;
}

}  // namespace

void came_to_call(Communicator& communicator) noexcept try {
  if (!communicator.late_ranks) {
    auto made = std::make_unique<LateRanks>();
    begin(*made, communicator);
    communicator.late_ranks = std::move(made);
  }
  if (Compared* const all = compared(communicator)) all->come(communicator.calls);
} catch (...) {  // no memory: nothing is compared
}

void left_call(const Communicator& communicator, const CollectiveCall& call, std::uint16_t entry) noexcept try {
  Compared* const all = compared(communicator);
  const std::optional<WaitsFor> waits = all ? waits_of(call) : std::nullopt;
  const int root = waits ? root_of(call) : -1;
  if (root >= 0) all->leave(*waits, static_cast<std::uint32_t>(root), entry);
} catch (...) {
}

void failed_in_call(Communicator& communicator) noexcept {
  auto* const late = static_cast<LateRanks*>(communicator.late_ranks.get());
  if (!late || !late->compared) return;
  late->compared->withdraw();
  late->compared.reset();
}

std::vector<record::WaitRecord> waits() {
  Waits& all = state();
  const std::lock_guard hold(all.mutex);
  std::vector<record::WaitRecord> records;
  for (const auto& [communicator, entries] : all.by_communicator)
    for (const auto& [entry, waited] : entries) {
      record::WaitRecord& one = records.emplace_back();
      one.call = entry_names()[entry];
      one.communicator = communicator;
      one.compared = waited.compared;
      one.time_ns = waited.time_ns;
      one.wait_ns = waited.wait_ns;
      for (std::size_t rank = 0; rank < waited.late_ns.size(); ++rank)
        if (waited.late_calls[rank] != 0 || waited.late_ns[rank] != 0)
          one.for_rank.push_back({static_cast<std::int32_t>(rank), waited.late_calls[rank], waited.late_ns[rank]});
    }
  return records;
}

}  // namespace millrace::shim
