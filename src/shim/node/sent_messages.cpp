#include "shim/bind/sent_messages.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <memory>
#include <mutex>
#include <numeric>
#include <unordered_map>
#include <utility>

#include "abi.h"
#include "base/hash.h"
#include "positions.h"
#include "record/peers.h"
#include "shim/bind/forward.h"
#include "shim/call/arguments.h"

namespace millrace::shim {
namespace {

using record::outside_world;

// A map from handles to what stays where it is until it is erased, and for each thread its last answers: they hold
// while nothing is erased or replaced. Who may use a handle has synchronised with who made or freed it, by MPI's rules.
template <class Value>
class Remembered {
 public:
  // Null if it is not there.
  const Value* find(Word handle) {
    thread_local std::array<Answer, 64> answers __attribute__((tls_model("initial-exec")));
    Answer& answer = answers[spread(handle) >> 58];
    const std::uint64_t now = generation_.load(std::memory_order_acquire);  // with the releases below
    if (answer.handle == handle && answer.generation == now) return answer.value;
    const std::lock_guard lock(mutex_);
    const auto found = map_.find(handle);
    if (found == map_.end()) return nullptr;  // not remembered: it may be added
    answer = {handle, now, found->second.get()};
    return answer.value;
  }
  void set(Word handle, std::unique_ptr<const Value> value) {
    std::unique_ptr<const Value> former;
    const std::lock_guard lock(mutex_);
    former = std::exchange(map_[handle], std::move(value));
    if (former) generation_.fetch_add(1, std::memory_order_release);
  }
  void erase(Word handle) {
    const std::lock_guard lock(mutex_);
    if (map_.erase(handle) != 0) generation_.fetch_add(1, std::memory_order_release);
  }
  void clear() {
    const std::lock_guard lock(mutex_);
    map_.clear();
    generation_.fetch_add(1, std::memory_order_release);
  }

 private:
  struct Answer {
    Word handle = 0;
    std::uint64_t generation = 0;
    const Value* value = nullptr;
  };
  std::mutex mutex_;
  std::unordered_map<Word, std::unique_ptr<const Value>> map_;
  std::atomic<std::uint64_t> generation_{1};
};

// Of the ranks of a communicator, each one's in MPI_COMM_WORLD or `outside_world`. Empty for an intercommunicator.
using Receivers = std::vector<int>;

// What a persistent request sends whenever it is started.
struct Prepared {
  int receiver;
  std::uint64_t bytes;
};

// Never destroyed: communicators and requests may be freed by destructors elsewhere.
Remembered<Receivers>& communicators() {
  static auto& remembered = *new Remembered<Receivers>;
  return remembered;
}
Remembered<Prepared>& requests() {
  static auto& remembered = *new Remembered<Prepared>;
  return remembered;
}

std::atomic<int> world_ranks{0};  // 0: none are known. Written by prepare and forget alone
int keyval = 0;

// Callbacks of the attribute by which we hear of the end of a communicator.
int do_not_copy(Word, Word, void*, void*, void*, int* flag) {
  *flag = 0;
  return 0;
}
int forget(Word comm, Word, void*, void*) {
  communicators().erase(abi::handle(comm));
  return 0;
}

Receivers in_world(Word group) {
  Word world = 0;
  int ranks = 0;
  if (host<Symbol::MPI_Comm_group>(abi::comm_world(), as_word(&world)) != 0) return {};
  world = abi::handle(world);
  Receivers receivers;
  if (host<Symbol::MPI_Group_size>(group, as_word(&ranks)) == 0) {
    std::vector<int> own(static_cast<std::size_t>(ranks));
    std::iota(own.begin(), own.end(), 0);
    receivers.resize(own.size(), outside_world);
    if (host<Symbol::MPI_Group_translate_ranks>(group, ranks, as_word(own.data()), world,
                                                as_word(receivers.data())) != 0)
      receivers.clear();
  }
  host<Symbol::MPI_Group_free>(as_word(&world));
  const int most = world_ranks.load(std::memory_order_relaxed);
  for (int& receiver : receivers)
    if (receiver < 0 || receiver >= most) receiver = outside_world;  // MPI_UNDEFINED
  return receivers;
}

Receivers receivers_on(Word comm) {
  int between = 0;
  Word group = 0;
  if (host<Symbol::MPI_Comm_test_inter>(comm, as_word(&between)) != 0 || between != 0) return {};
  if (host<Symbol::MPI_Comm_group>(comm, as_word(&group)) != 0) return {};
  group = abi::handle(group);
  Receivers receivers = in_world(group);
  host<Symbol::MPI_Group_free>(as_word(&group));
  return receivers;
}

// Asked once: the host has accepted the communicator in a call.
[[gnu::noinline]] const Receivers* ask_for_receivers(Word comm) {
  if (world_ranks.load(std::memory_order_relaxed) == 0) return nullptr;
  auto receivers = std::make_unique<const Receivers>(receivers_on(comm));
  // Without the attribute nobody would tell us when it ends.
  if (host<Symbol::MPI_Comm_set_attr>(comm, static_cast<Word>(keyval), 0) != 0) return nullptr;
  communicators().set(comm, std::move(receivers));
  return communicators().find(comm);
}

int receiver_of(Word comm, int rank) {
  const Receivers* receivers = communicators().find(comm);
  if (!receivers) [[unlikely]]
    receivers = ask_for_receivers(comm);
  if (!receivers || rank < 0 || static_cast<std::size_t>(rank) >= receivers->size()) return outside_world;
  return (*receivers)[static_cast<std::size_t>(rank)];
}

// MPI_Psend_init has no rule for its bytes: it has partitions, and counts of a type of their own.
std::uint64_t partitioned_bytes(Symbol symbol, const Arguments& arguments) {
  constexpr std::size_t partitions = 1, count = 2, datatype = 3;
  int type_bytes = 0;
  host<Symbol::MPI_Type_size>(arguments.datatype(datatype), as_word(&type_bytes));
  const auto elements = is_fortran(symbol) ? *static_cast<const std::int64_t*>(as_pointer(arguments.word(count)))
                                           : static_cast<std::int64_t>(arguments.word(count));
  const std::int64_t bytes = arguments.integer(partitions) * elements * type_bytes;
  return bytes > 0 ? static_cast<std::uint64_t>(bytes) : 0;
}

// Started requests stand one after the other, in MPI_Start a single one.
static_assert(at::Start::request == 0 && at::Startall::count == 0 && at::Startall::array_of_requests == 1);

}  // namespace

void prepare_sent_messages(int ranks) {
  if (host<Symbol::MPI_Comm_create_keyval>(reinterpret_cast<Word>(&do_not_copy), reinterpret_cast<Word>(&forget),
                                           as_word(&keyval), 0) == 0)
    world_ranks.store(ranks, std::memory_order_relaxed);
}

void forget_sent_messages() {
  if (world_ranks.exchange(0, std::memory_order_relaxed) == 0) return;
  // Attributes of communicators that are still alive are left to MPI_Finalize: nothing is found for them any more.
  communicators().clear();
  host<Symbol::MPI_Comm_free_keyval>(as_word(&keyval));
}

void note_sent(Symbol symbol, std::span<const Word> words, std::uint64_t bytes) noexcept try {
  const Target target = target_of(symbol);
  const Arguments arguments(symbol, words);
  const int rank = arguments.integer(static_cast<std::size_t>(target.rank));
  if (rank == abi::proc_null) return;
  const int receiver = receiver_of(arguments.comm(static_cast<std::size_t>(target.object)), rank);
  if (target.made < 0) return record::add_message(receiver, bytes);
  if (symbol_entry(symbol) == Entry::Psend_init) bytes = partitioned_bytes(symbol, arguments);
  requests().set(arguments.request_at(static_cast<std::size_t>(target.made)),
                 std::make_unique<const Prepared>(Prepared{receiver, bytes}));
} catch (...) {
}

StartedMessages::StartedMessages(Symbol symbol, std::span<const Word> words) noexcept try
    : symbol_(symbol), words_(words), count_(1) {
  if (symbol_entry(symbol) == Entry::Start) {
    first_ = request_at(0);
    return;
  }
  count_ = static_cast<std::size_t>(std::max(Arguments(symbol, words).integer(at::Startall::count), 0));
  all_.resize(count_);
  for (std::size_t index = 0; index < count_; ++index) all_[index] = request_at(index);
} catch (...) {
  count_ = 0;
}

Word StartedMessages::request_at(std::size_t index) const {
  const bool one = symbol_entry(symbol_) == Entry::Start;
  const std::size_t position = one ? at::Start::request : at::Startall::array_of_requests;
  return words_[position] == 0 ? 0 : Arguments(symbol_, words_).request_at(position, index);
}

void StartedMessages::succeeded() noexcept try {
  for (std::size_t index = 0; index < count_; ++index) {
    const Word before = all_.empty() ? first_ : all_[index];
    const Prepared* const message = requests().find(before);
    if (!message) continue;
    record::add_message(message->receiver, message->bytes);
    const Word now = request_at(index);
    if (now == before) continue;
    requests().set(now, std::make_unique<const Prepared>(*message));
    requests().erase(before);
  }
} catch (...) {
}

void forget_prepared_message(Symbol symbol, std::span<const Word> words) noexcept try {
  if (words[at::Request_free::request] == 0) return;
  requests().erase(Arguments(symbol, words).request_at(at::Request_free::request));
} catch (...) {
}

}  // namespace millrace::shim
