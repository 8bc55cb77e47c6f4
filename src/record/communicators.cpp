#include "record/communicators.h"

#include <pthread.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cmath>
#include <cstring>

#include "record/process_lock.h"
#include "record/thread_block.h"

namespace millrace::record {
namespace {

struct Text {
  std::array<char, longest_communicator_text> letters;
  std::uint8_t length;

  void set(std::string_view text) {
    length = static_cast<std::uint8_t>(std::min(text.size(), longest_communicator_text));
    std::memcpy(letters.data(), text.data(), length);
  }
  std::string_view view() const { return {letters.data(), length}; }
};

struct Known {
  Text name, ranks;
  std::uint64_t members, size, made;
};

// The last number is that of the others, so that a block of zeros needs no numbers.
constexpr std::uint16_t others = most_communicators;
static_assert(communicator_places == most_communicators + 1);

// Constant-initialised, and of fixed size: a signal may come at any moment, and programs may end in any way.
struct State {
  std::array<Known, communicator_places> known;
  std::size_t length;
};
constinit State state{};

// What threads have counted is gone in a child of fork() as well (record.cpp); the numbers that callers remember stay.
constinit ProcessLock lock{[] { pthread_atfork(nullptr, nullptr, [] { lock.make_anew(); }); }};

std::string_view cut(std::string_view text) { return text.substr(0, longest_communicator_text); }

std::uint16_t number_of(const CommunicatorIdentity& identity) {
  for (std::size_t number = 0; number < state.length; ++number) {
    const Known& known = state.known[number];
    if (known.members == identity.members && known.size == identity.size && known.name.view() == cut(identity.name))
      return static_cast<std::uint16_t>(number);
  }
  if (state.length == most_communicators) return others;
  Known& known = state.known[state.length];
  known.name.set(identity.name);
  known.ranks.set(identity.ranks);
  known.members = identity.members;
  known.size = identity.size;
  return static_cast<std::uint16_t>(state.length++);
}

CommunicatorRecord counted(std::size_t number, const Known& known, double ns_per_tick) {
  CommunicatorRecord record{std::string(known.name.view()),
                            std::string(known.ranks.view()),
                            known.members,
                            known.size,
                            known.made,
                            0,
                            0,
                            0,
                            0};
  if (number == others) record.name = other_communicators;
  std::uint64_t ticks = 0;
  for (ThreadBlock* block = first_block(); block; block = block->next) {
    CommunicatorCounters& from = block->communicators[number];
    record.calls += read(from.calls);
    record.taken += read(from.taken);
    record.bytes += read(from.bytes);
    ticks += read(from.ticks);
  }
  record.time_ns = static_cast<std::uint64_t>(std::llround(static_cast<double>(ticks) * ns_per_tick));
  return record;
}

}  // namespace

std::uint16_t communicator_number(const CommunicatorIdentity& identity) noexcept {
  const Hold hold(lock);
  const std::uint16_t number = number_of(identity);
  state.known[number].made += 1;
  return number;
}

void add_communicator_call(std::uint16_t number, std::uint64_t bytes, std::uint64_t ticks, bool is_taken) noexcept {
  ThreadBlock* const block = this_thread_block();
  if (!block || number >= communicator_places) return;
  CommunicatorCounters& counters = block->communicators[number];
  add(counters.calls, 1);
  add(counters.taken, is_taken ? 1 : 0);
  add(counters.bytes, bytes);
  add(counters.ticks, ticks);
}

std::vector<CommunicatorRecord> communicators_until_now(double ns_per_tick) {
  const Hold hold(lock, Hold::a_while);
  if (!hold.has()) return {};
  std::vector<CommunicatorRecord> records;
  for (std::size_t number = 0; number < communicator_places; ++number) {
    CommunicatorRecord record = counted(number, state.known[number], ns_per_tick);
    if (record.calls > 0) records.push_back(std::move(record));
  }
  return records;
}

void reset_communicators() noexcept {
  const Hold hold(lock);
  state = {};
  for (ThreadBlock* block = first_block(); block; block = block->next)
    for (CommunicatorCounters& counters : block->communicators)
      for (std::uint64_t* const counter : {&counters.calls, &counters.taken, &counters.bytes, &counters.ticks})
        std::atomic_ref<std::uint64_t>(*counter).store(0, std::memory_order_relaxed);
}

}  // namespace millrace::record
