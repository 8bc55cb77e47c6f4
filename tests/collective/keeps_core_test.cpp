// Who waits for a copy may keep its core, where others want it that are no ranks of the same job.
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sched.h>
#include <sys/mman.h>

#include <algorithm>
#include <atomic>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "collective/across/here.h"
#include "collective/collective.h"
#include "ranks.h"
#include "shared_memory/own_core.h"

namespace millrace::collective::test {
namespace {

using shared_memory::own_core;

// Who had the core last had it for a second; it gives it back at once now, so each gift makes away_ns() less.
constexpr std::uint64_t second_ns = 1'000'000'000;

// Of rank 1.
Group* own = nullptr;
std::uint64_t begin_ns = 0, away_ns = 0;      // of a call; before it
std::uint64_t kept_ns = 0, most_seen_ns = 0;  // until it gave its core away; the most that it was to keep it
std::atomic<int>* given = nullptr;            // calls in which it has, for both ranks to see
int calls = 0;

bool look(void*) {
  if (!own || own->rank() != 1) return true;
  most_seen_ns = std::max(most_seen_ns, own->keeps_core_ns);
  if (own_core().away_ns() != away_ns && given->exchange(calls) != calls) kept_ns = monotonic_ns() - begin_ns;
  return true;
}

// Rank 1 waits for rank 0 until it gives its core away; for how long it keeps it, at most.
std::string one_call(Group& group, std::size_t bytes, std::uint64_t keeps_ns) {
  std::vector<char> data(bytes);
  own_core().give_away(monotonic_ns() - second_ns);
  most_seen_ns = kept_ns = 0;
  away_ns = own_core().away_ns();
  ++calls;
  begin_ns = monotonic_ns();
  while (group.rank() == 0 && given->load() < calls) sched_yield();
  if (const Result result = bcast(group, data.data(), bytes, 0); result != Result::ok) return result_name(result);
  if (group.keeps_core_ns != 0) return "it is kept after the call";
  if (group.rank() == 0) return "";
  if (most_seen_ns != keeps_ns) return fmt::format("{} bytes: {} ns", bytes, most_seen_ns);
  if (kept_ns < keeps_ns) return fmt::format("{} bytes: given away after {} ns", bytes, kept_ns);
  return "";
}

TEST(KeepsCore, WhereACopyIsWaitedFor) {
  void* const memory = mmap(nullptr, sizeof *given, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(memory, MAP_FAILED);
  given = static_cast<std::atomic<int>*>(memory);
  RankSetup setup = ranks(2);
  setup.waiting = Waiting::spin;
  setup.progress = look;
  EXPECT_EQ(
      run_all(setup,
              [](Group& group) -> std::string {
                own = &group;
                // A byte takes a nanosecond, but no call more than two milliseconds.
                constexpr std::size_t large = 1 << 20, huge = 8 << 20, small = 64;
                constexpr std::uint64_t most_ns = 2'000'000;
                for (const auto [bytes, ns] : {std::pair{large, std::uint64_t{large}}, {huge, most_ns}, {small, 0}})
                  if (std::string said = one_call(group, bytes, ns); !said.empty()) return said;
                const GroupHere step_of_nodes(group);
                return one_call(group, large, 0);
              }),
      "");
  munmap(memory, sizeof *given);
}

}  // namespace
}  // namespace millrace::collective::test
