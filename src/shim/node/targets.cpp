#include "shim/bind/targets.h"

#include <atomic>
#include <mutex>
#include <shared_mutex>
#include <unordered_map>
#include <utility>
#include <vector>

#include "abi.h"
#include "positions.h"
#include "shim/bind/attention.h"
#include "shim/bind/forward.h"
#include "shim/call/arguments.h"
#include "shim/node/communicators.h"
#include "shim/node/node_agreement.h"

namespace millrace::shim {
namespace {

using shared_memory::Attention;

constexpr int not_known = -1, no_rank = -2;

// What is remembered of a kind of object; handles are C handles. One object for each type: a thread has one last
// answer.
template <class Value>
class HandleMap {
 public:
  void set(Word handle, Value value) {
    const std::lock_guard lock(mutex_);
    map_.insert_or_assign(handle, std::move(value));
    changes_.fetch_add(1, std::memory_order_release);
  }
  void erase(Word handle) {
    if (changes_.load(std::memory_order_relaxed) == 0) return;  // who may free it has seen it made
    const std::lock_guard lock(mutex_);
    map_.erase(handle);
    changes_.fetch_add(1, std::memory_order_release);
  }
  // Null if it is not there. Valid while the program may use the handle: entries stay where they are.
  const Value* find(Word handle) const {
    // A thread's last answer holds while nothing changes: programs work on one window again and again.
    thread_local Answer last;
    const std::uint64_t now = changes_.load(std::memory_order_acquire);  // with the releases above
    if (last.handle == handle && last.changes == now) return last.value;
    const std::shared_lock lock(mutex_);
    const auto found = map_.find(handle);
    last = {handle, now, found == map_.end() ? nullptr : &found->second};
    return last.value;
  }

 private:
  struct Answer {
    Word handle = 0;
    std::uint64_t changes = 0;
    const Value* value = nullptr;
  };
  mutable std::shared_mutex mutex_;
  std::unordered_map<Word, Value> map_;
  std::atomic<std::uint64_t> changes_{0};
};

// Never destroyed: objects may be freed by destructors elsewhere.
auto& windows() {
  static auto& seats = *new HandleMap<std::vector<int>>;
  return seats;
}
auto& requests() {
  static auto& seats = *new HandleMap<int>;
  return seats;
}

std::mutex communicators_mutex;  // of Communicator::seats

int seat_in(const std::vector<int>& seats, int rank) {
  return rank >= 0 && static_cast<std::size_t>(rank) < seats.size() ? seats[static_cast<std::size_t>(rank)] : not_known;
}

// Of a communicator that the host has accepted before: it is asked for nothing that may fail.
int seat_in(Word comm, int rank) {
  Communicator* const communicator = find_communicator(comm);
  if (!communicator || communicator->between) return not_known;
  if (!communicator->has_seats.load(std::memory_order_acquire)) {  // partner: the release below
    const std::lock_guard lock(communicators_mutex);
    if (communicator->seats.empty()) communicator->seats = world_ranks_of(comm);
    communicator->has_seats.store(true, std::memory_order_release);
  }
  return seat_in(communicator->seats, rank);
}

std::size_t place(int position) { return static_cast<std::size_t>(position); }

int seat_of_rank(const Target& target, const Arguments& arguments, int position) {
  const int rank = arguments.integer(place(position));
  if (rank == abi::proc_null) return no_rank;
  if (rank == abi::any_source) return not_known;
  if (target.through == Through::communicator) return seat_in(arguments.comm(place(target.object)), rank);
  const std::vector<int>* const seats = windows().find(arguments.win(place(target.object)));
  return seats ? seat_in(*seats, rank) : not_known;
}

int seat_of_request(Word request) {
  const int* const seat = requests().find(request);
  return seat ? *seat : not_known;
}

// 0, which no host uses, for an address that is none: what is wrong with that is the host's to say.
Word request_at(const Arguments& arguments, int position) {
  return arguments.word(place(position)) == 0 ? 0 : arguments.request_at(place(position));
}

// Seats, `no_rank` or `not_known`; the second is `no_rank` where the call names one rank.
std::pair<int, int> seats_of(const Target& target, const Arguments& arguments) {
  switch (target.through) {
    case Through::nobody: return {not_known, no_rank};
    case Through::request: return {seat_of_request(arguments.request(place(target.object))), no_rank};
    case Through::request_at: return {seat_of_request(request_at(arguments, target.object)), no_rank};
    case Through::window:
    case Through::communicator: break;
  }
  const int second = target.second_rank < 0 ? no_rank : seat_of_rank(target, arguments, target.second_rank);
  return {seat_of_rank(target, arguments, target.rank), second};
}

}  // namespace

void remember_window(Word win) noexcept try {
  if (!shared_memory::everybody_rings(seating())) return;
  Word group = 0;
  if (host<Symbol::MPI_Win_get_group>(win, as_word(&group)) != 0) return;
  std::vector<int> seats = world_ranks_of_group(abi::handle(group));
  host<Symbol::MPI_Group_free>(as_word(&group));
  if (!seats.empty()) windows().set(win, std::move(seats));
} catch (...) {
}

void forget_window(Word win) noexcept { windows().erase(win); }

void remember_request(Symbol symbol, Word result, std::span<const Word> words) noexcept try {
  if (!shared_memory::everybody_rings(seating()) || !has_succeeded(symbol, result, words)) return;
  const Target target = target_of(symbol);
  const Arguments arguments(symbol, words);
  const int seat = seats_of(target, arguments).first;
  if (seat >= 0) requests().set(request_at(arguments, target.made), seat);
} catch (...) {
}

void forget_request(Symbol symbol, std::span<const Word> words) noexcept {
  requests().erase(request_at(Arguments(symbol, words), at::Request_free::request));
}

std::uint32_t ring_target(Symbol symbol, std::span<const Word> words) noexcept try {
  const auto [seat, second] = shared_memory::everybody_rings(seating())
                                  ? seats_of(target_of(symbol), Arguments(symbol, words))
                                  : std::pair(not_known, not_known);
  if (seat == not_known || second == not_known) {
    ring_for_host();
    return Attention::anybody;
  }
  Attention& all = *attention.load(std::memory_order_relaxed);
  for (const int needed : {seat, second})
    if (needed != no_rank) shared_memory::ring_sleeper(all, static_cast<std::uint32_t>(needed));
  if (seat != no_rank && second != no_rank && seat != second) return Attention::anybody;
  const int only = seat != no_rank ? seat : second;
  return only == no_rank ? Attention::nobody : Attention::needed_seat(static_cast<std::uint32_t>(only));
} catch (...) {
  ring_for_host();
  return Attention::anybody;
}

}  // namespace millrace::shim
