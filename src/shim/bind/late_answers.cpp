#include "shim/bind/late_answers.h"

#include <algorithm>

#include "abi.h"
#include "shim/bind/attention.h"

namespace millrace::shim {

constinit std::atomic<bool> met_outside_host{false};

namespace {

constinit std::atomic<bool (*)(void*)> driver{nullptr};
// given_by_others() when a question last found everything seen.
constinit std::atomic<std::uint32_t> seen{0};

// MPICH 5 and Intel MPI say "no" by themselves to who asks for what came behind others. What is answered by "yes" is
// asked about anew, so this is about what has come for other questions.
constexpr std::uint32_t most_unseen = 16 * abi::messages_in_a_look;

int int_at(Word address) { return *static_cast<const int*>(as_pointer(address)); }

// A call that has failed has said nothing.
bool is_no(Symbol symbol, Word result, std::span<const Word> words) {
  const bool has_failed = is_fortran(symbol) ? words.back() != 0 && int_at(words.back()) != 0 : as_int(result) != 0;
  const Word answer = words[static_cast<std::size_t>(answer_of(symbol))];
  return !has_failed && answer != 0 && int_at(answer) == 0;
}

}  // namespace

void use_host_driver(bool (*drive)(void*)) {
  driver.store(drive, std::memory_order_relaxed);
  met_outside_host.store(false, std::memory_order_relaxed);
  seen.store(0, std::memory_order_relaxed);
}

bool host_has_looked(Symbol symbol, Word result, std::span<const Word> words, std::uint32_t& given) noexcept {
  bool (*const drive)(void*) = driver.load(std::memory_order_relaxed);
  if (!drive || !is_no(symbol, result, words)) return false;
  // Taken back first: a collective of another thread may set it meanwhile.
  met_outside_host.store(false, std::memory_order_relaxed);
  given = shared_memory::given_by_others(seating());
  const std::uint32_t unseen = given - seen.load(std::memory_order_relaxed);
  if (unseen == 0) return false;
  // The question that was answered by "no" was a look, and the next one is.
  const std::uint32_t looks = (std::min(unseen, most_unseen) - 1) / abi::messages_in_a_look;
  for (std::uint32_t look = 0; look < looks; ++look) drive(nullptr);
  return true;
}

void note_answer(Symbol symbol, Word result, std::span<const Word> words, std::uint32_t given) noexcept {
  if (is_no(symbol, result, words))
    seen.store(given, std::memory_order_relaxed);
  else
    note_meeting();  // there may be more behind it
}

}  // namespace millrace::shim
