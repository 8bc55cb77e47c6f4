#include "shim/shared/late_ranks.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <utility>

#include "abi.h"
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
  std::uint64_t compared = 0, ticks = 0, wait_ticks = 0;
  std::vector<std::uint64_t> late_calls, late_ticks;  // by rank of the world
};

// Communicators of more different sets of ranks than so many are one.
constexpr std::size_t most_communicators = 32;

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

// To look at what the others have said takes a few nanoseconds for each of them, and short calls take not many more. So
// of short calls, after the first ones, only some are looked at, of which all ranks know which: whole batches, since
// eight calls of a rank lie on one line, and not in a period that the program may have too. Little is lost: nobody
// waits longer in a call than it takes. The short call of who comes last to a long one is looked at by who waits.
constexpr std::uint64_t first_calls = 1024, batches_to_one = 8, ranks_looked_at = 32;
constexpr std::uint64_t long_call_ticks = 50'000, long_call_ticks_a_rank = 4'000;
constexpr std::size_t batch_calls = 32;
static_assert(batch_calls <= node::Arrivals::most_stamps / 4, "others run ahead meanwhile");

class Compared {
 public:
  Compared(char* memory, const Communicator& communicator, std::vector<int> seats, std::size_t world_ranks,
           std::map<std::uint16_t, Waited>& waited)
      : arrivals_(memory, static_cast<std::uint32_t>(communicator.rank),
                  static_cast<std::uint32_t>(communicator.ranks)),
        seats_(std::move(seats)),
        world_ranks_(world_ranks),
        waited_(waited),
        long_ticks_(std::max(long_call_ticks, long_call_ticks_a_rank * static_cast<std::uint64_t>(communicator.ranks))),
        stride_(batches_to_one *
                ((static_cast<std::uint64_t>(communicator.ranks) + ranks_looked_at - 1) / ranks_looked_at)) {}

  void come(std::uint64_t call, std::uint64_t ticks) {
    is_inside_ = true;
    inside_.call = call;
    inside_.came_ticks = ticks;
    arrivals_.come(call, ticks);
  }

  // The rank leaves the call to which it came last. Whether that one is to be looked at.
  bool leave(std::uint64_t ticks) {
    if (!std::exchange(is_inside_, false)) return false;
    if (const std::uint64_t batch = inside_.call / batch_calls; batch != batch_) [[unlikely]] {
      batch_ = batch;
      is_sampled_ = inside_.call < first_calls || spread(batch) % stride_ == 0;
      if (pending_count_ > 0) look_at_pending();  // before the others overwrite what they said
    }
    inside_.left_ticks = ticks;
    return is_sampled_ || is_long();
  }

  void keep(WaitsFor waits, std::uint32_t root, std::uint16_t entry) {
    inside_.waits = waits;
    inside_.root = root;
    pending_[pending_count_++] = {inside_, entry};
    if (is_long() || pending_count_ == batch_calls) look_at_pending();
  }

  void look_at_pending() {
    const std::lock_guard hold(state().mutex);
    Waited* sum = nullptr;
    const Pending* before = nullptr;
    for (const Pending& one : std::span(pending_).first(std::exchange(pending_count_, 0))) {
      const node::Meeting meeting = arrivals_.meeting(one.visit);
      if (!meeting.is_known) continue;
      if (!before || one.entry != before->entry) sum = &sum_of(one.entry);
      before = &one;
      add(one, meeting, *sum);
    }
  }

  void withdraw() { arrivals_.withdraw(); }

 private:
  struct Pending {
    node::Visit visit;
    std::uint16_t entry = 0;
  };

  bool is_long() const { return inside_.left_ticks - inside_.came_ticks > long_ticks_; }
  std::size_t seat(std::uint32_t rank) const { return static_cast<std::size_t>(seats_[rank]); }

  Waited& sum_of(std::uint16_t entry) {
    Waited& sum = waited_[entry];
    sum.late_calls.resize(world_ranks_);
    sum.late_ticks.resize(world_ranks_);
    return sum;
  }

  void add(const Pending& one, const node::Meeting& meeting, Waited& sum) {
    ++sum.compared;
    sum.ticks += one.visit.left_ticks - one.visit.came_ticks;
    sum.wait_ticks += meeting.wait_ticks;
    sum.late_ticks[seat(meeting.last_rank)] += meeting.wait_ticks;
    if (meeting.is_first) ++sum.late_calls[seat(meeting.last_rank)];
  }

  node::Arrivals arrivals_;
  std::vector<int> seats_;  // of its ranks in MPI_COMM_WORLD
  std::size_t world_ranks_;
  std::map<std::uint16_t, Waited>& waited_;
  std::uint64_t long_ticks_, stride_;
  bool is_inside_ = false, is_sampled_ = false;
  std::uint64_t batch_ = ~std::uint64_t{0};
  node::Visit inside_;
  std::size_t pending_count_ = 0;
  std::array<Pending, batch_calls> pending_;
};

// Without a value: nothing can be said.
struct LateRanks : KeptWithCommunicator {
  std::optional<Compared> compared;
  ~LateRanks() override {
    if (compared) compared->look_at_pending();
  }
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

void came_to_call(Communicator& communicator, std::uint64_t ticks) noexcept try {
  if (!communicator.late_ranks) [[unlikely]] {
    auto made = std::make_unique<LateRanks>();
    begin(*made, communicator);
    communicator.late_ranks = std::move(made);
  }
  if (Compared* const all = compared(communicator)) all->come(communicator.calls, ticks);
} catch (...) {  // no memory: nothing is compared
}

void left_call(const Communicator& communicator, const CollectiveCall& call, std::uint16_t entry,
               std::uint64_t ticks) noexcept try {
  Compared* const all = compared(communicator);
  if (!all || !all->leave(ticks)) return;
  const std::optional<WaitsFor> waits = waits_of(call);
  const int root = waits ? root_of(call) : -1;
  if (root >= 0) all->keep(*waits, static_cast<std::uint32_t>(root), entry);
} catch (...) {
}

void failed_in_call(Communicator& communicator) noexcept {
  auto* const late = static_cast<LateRanks*>(communicator.late_ranks.get());
  if (!late || !late->compared) return;
  late->compared->look_at_pending();
  late->compared->withdraw();
  late->compared.reset();
}

record::Waits waits(double ns_per_tick) {
  const auto to_ns = [=](std::uint64_t ticks) {
    return static_cast<std::uint64_t>(std::llround(static_cast<double>(ticks) * ns_per_tick));
  };
  Waits& all = state();
  const std::lock_guard hold(all.mutex);
  record::Waits found;
  for (const auto& [communicator, entries] : all.by_communicator)
    for (const auto& [entry, waited] : entries) {
      record::WaitRecord& one = found.calls.emplace_back();
      one.call = entry_names()[entry];
      one.communicator = communicator;
      one.compared = waited.compared;
      one.time_ns = to_ns(waited.ticks);
      one.wait_ns = to_ns(waited.wait_ticks);
      for (std::size_t rank = 0; rank < waited.late_ticks.size(); ++rank)
        if (waited.late_calls[rank] != 0 || waited.late_ticks[rank] != 0)
          one.for_rank.push_back(
              {static_cast<std::int32_t>(rank), waited.late_calls[rank], to_ns(waited.late_ticks[rank])});
    }
  found.for_rank = record::by_rank(found.calls);
  for (record::WaitRecord& one : found.calls) record::keep_foremost(one.for_rank);
  return found;
}

}  // namespace millrace::shim
