#include "shim/bind/sent_messages.h"

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
// while nothing changes. Who may use a handle has synchronised with who made or freed it, by MPI's rules.
template <class Value>
class Remembered {
 public:
  // Null if it is not there.
  static const Value* find(Word handle) {
    Answer& answer = answers[spread(handle) >> 58];
    const std::uint64_t now = generation.load(std::memory_order_acquire);  // with the releases in changed()
    if (answer.handle == handle && answer.generation == now) return answer.value;
    return look_up(handle, now, answer);
  }
  static void set(Word handle, std::unique_ptr<const Value> value) {
    const std::lock_guard lock(mutex);
    map()[handle].swap(value);
    changed();
  }
  static void erase(Word handle) {
    const std::lock_guard lock(mutex);
    if (map().erase(handle) != 0) changed();
  }
  static void clear() {
    const std::lock_guard lock(mutex);
    map().clear();
    changed();
  }

 private:
  struct Answer {
    Word handle = 0;
    std::uint64_t generation = 0;
    const Value* value = nullptr;
  };
  [[gnu::noinline]] static const Value* look_up(Word handle, std::uint64_t now, Answer& answer) {
    const std::lock_guard lock(mutex);
    const auto found = map().find(handle);
    answer = {handle, now, found == map().end() ? nullptr : found->second.get()};
    return answer.value;
  }
  static void changed() { generation.fetch_add(1, std::memory_order_release); }
  static auto& map() {
    // Never destroyed: communicators and requests may be freed by destructors elsewhere.
    static auto& remembered = *new std::unordered_map<Word, std::unique_ptr<const Value>>;
    return remembered;
  }

  static inline constinit std::mutex mutex;
  static inline constinit std::atomic<std::uint64_t> generation{1};
  static inline constinit thread_local std::array<Answer, 64> answers __attribute__((tls_model("initial-exec"))) = {};
};

// Of the ranks of a communicator, each one's in MPI_COMM_WORLD or `outside_world`. Empty for an intercommunicator.
using Receivers = std::vector<int>;

// What a persistent request sends whenever it is started.
struct Prepared {
  int receiver;
  std::uint64_t bytes;
};

using Communicators = Remembered<Receivers>;
using Requests = Remembered<Prepared>;

std::atomic<int> world_ranks{0};  // 0: none are known. Written by prepare and forget alone
int keyval = 0;

// Callbacks of the attribute by which we hear of the end of a communicator.
int do_not_copy(Word, Word, void*, void*, void*, int* flag) {
  *flag = 0;
  return 0;
}
int forget(Word comm, Word, void*, void*) {
  Communicators::erase(abi::handle(comm));
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
    if (host<Symbol::MPI_Group_translate_ranks>(group, ranks, as_word(own.data()), world, as_word(receivers.data())) !=
        0)
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
  Communicators::set(comm, std::move(receivers));
  return Communicators::find(comm);
}

int receiver_of(Word comm, int rank) {
  const Receivers* receivers = Communicators::find(comm);
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

void count_start(const Prepared& message, Word before, Word now) {
  record::add_message(message.receiver, message.bytes);
  if (now == before) return;
  Requests::set(now, std::make_unique<const Prepared>(message));
  Requests::erase(before);
}

}  // namespace

void prepare_sent_messages(int ranks) {
  if (host<Symbol::MPI_Comm_create_keyval>(reinterpret_cast<Word>(&do_not_copy), reinterpret_cast<Word>(&forget),
                                           as_word(&keyval), 0) == 0)
    world_ranks.store(ranks, std::memory_order_relaxed);
}

void forget_sent_messages() {
  if (world_ranks.exchange(0, std::memory_order_relaxed) == 0) return;
  // Attributes of communicators that are still alive are left to MPI_Finalize: nothing is found for them any more.
  Communicators::clear();
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
  Requests::set(arguments.request_at(static_cast<std::size_t>(target.made)),
                std::make_unique<const Prepared>(Prepared{receiver, bytes}));
} catch (...) {
}

Word request_to_start(Symbol symbol, std::span<const Word> words) noexcept {
  return words[at::Start::request] == 0 ? 0 : Arguments(symbol, words).request_at(at::Start::request);
}

void note_started(Symbol symbol, std::span<const Word> words, Word request) noexcept try {
  if (const Prepared* const message = Requests::find(request))
    count_start(*message, request, request_to_start(symbol, words));
} catch (...) {
}

std::vector<Word> requests_to_start(Symbol symbol, std::span<const Word> words) noexcept try {
  using Place = at::Startall;
  const Arguments arguments(symbol, words);
  const int count = arguments.integer(Place::count);
  std::vector<Word> requests(words[Place::array_of_requests] == 0 || count < 0 ? 0 : static_cast<std::size_t>(count));
  for (std::size_t index = 0; index < requests.size(); ++index)
    requests[index] = arguments.request_at(Place::array_of_requests, index);
  return requests;
} catch (...) {
  return {};
}

void note_started(Symbol symbol, std::span<const Word> words, std::span<const Word> requests) noexcept try {
  const Arguments arguments(symbol, words);
  for (std::size_t index = 0; index < requests.size(); ++index)
    if (const Prepared* const message = Requests::find(requests[index]))
      count_start(*message, requests[index], arguments.request_at(at::Startall::array_of_requests, index));
} catch (...) {
}

void forget_prepared_message(Symbol symbol, std::span<const Word> words) noexcept try {
  if (words[at::Request_free::request] == 0) return;
  Requests::erase(Arguments(symbol, words).request_at(at::Request_free::request));
} catch (...) {
}

}  // namespace millrace::shim
