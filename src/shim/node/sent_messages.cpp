#include "shim/bind/sent_messages.h"

#include <memory>

#include "abi.h"
#include "positions.h"
#include "record/peers.h"
#include "shim/bind/forward.h"
#include "shim/call/arguments.h"
#include "shim/node/known_communicators.h"
#include "shim/node/remembered.h"

namespace millrace::shim {
namespace {

using record::outside_world;

// What a persistent request sends whenever it is started.
struct Prepared {
  int receiver;
  std::uint64_t bytes;
};

using Requests = Remembered<Prepared>;

int receiver_of(Word comm, int rank) {
  const KnownCommunicator* const known = known_communicator(comm);
  if (!known || rank < 0 || static_cast<std::size_t>(rank) >= known->in_world.size()) return outside_world;
  return known->in_world[static_cast<std::size_t>(rank)];
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
