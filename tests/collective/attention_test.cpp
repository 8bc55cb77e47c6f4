// A rank that waits drives its host; one that sleeps is rung for what others do with the host.
#include <gtest/gtest.h>
#include <sched.h>
#include <sys/mman.h>
#include <unistd.h>

#include <atomic>
#include <vector>

#include "collective/collective.h"
#include "collective/exchange.h"
#include "ranks.h"
#include "shared_memory/attention.h"

namespace millrace::collective::test {
namespace {

using shared_memory::Attention;

// What the ranks of a test share beside their group.
struct Shared {
  Attention attention;
  std::atomic<std::uint64_t> looks;   // of rank 1 at its host while it is awake
  std::atomic<std::uint64_t> sleeps;  // of rank 1: it looks once more when it has said that it sleeps
};
Shared* shared = nullptr;
std::uint32_t own_rank = 0;

bool says_that_it_sleeps(std::uint32_t rank) { return (shared->attention.asleep[0].load() >> rank & 1) != 0; }

bool drive(void*) {
  if (own_rank == 1) (says_that_it_sleeps(1) ? shared->sleeps : shared->looks).fetch_add(1);
  return true;
}

// The last of `count` ranks to come is rank 0, after `meanwhile`.
std::string others_wait(bool in_exchange, bool everybody_rings, std::string (*meanwhile)()) {
  constexpr std::uint32_t count = 2;
  void* const memory = mmap(nullptr, sizeof(Shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) return "no memory";
  shared = static_cast<Shared*>(memory);
  RankSetup setup = ranks(count);
  setup.waiting = Waiting::sleep;
  setup.progress = drive;
  setup.seating = {&shared->attention, 0, count};
  shared->attention.everybody_rings = everybody_rings ? 1 : 0;
  setup.timeout_seconds = 20;
  std::string outcome = run_all(setup, [&](Group& group) -> std::string {
    Result result = barrier(group);
    own_rank = group.rank();
    const std::string found = own_rank == 0 ? meanwhile() : "";
    if (result == Result::ok && in_exchange) {
      std::vector<char> in(count * 8), out(count * 8);
      std::vector<Message> sends, receives;
      for (std::uint32_t rank = 0; rank < count; ++rank) {
        sends.push_back({rank, {8, in.data() + rank * 8, nullptr, nullptr}});
        receives.push_back({rank, {8, out.data() + rank * 8, nullptr, nullptr}});
      }
      result = exchange(group, Kind::alltoall, 0, sends, receives);
    } else if (result == Result::ok) {
      result = barrier(group);
    }
    return result == Result::ok ? found : result_name(result);
  });
  munmap(memory, sizeof(Shared));
  return outcome;
}

void await(std::atomic<std::uint64_t>& counter, std::uint64_t least) {
  while (counter.load() < least) sched_yield();
}

// Rung, it looks again and again before it sleeps once more.
std::string ring() {
  for (int time = 0; time < 5; ++time) {
    await(shared->sleeps, shared->sleeps.load() + 3);
    while (!says_that_it_sleeps(1)) sched_yield();
    const std::uint64_t looks = shared->looks.load(), sleeps = shared->sleeps.load();
    shared_memory::ring_sleepers(shared->attention);
    if (says_that_it_sleeps(1) && shared->sleeps.load() == sleeps) return "the bit stays where it is";
    await(shared->sleeps, sleeps + 1);
    const std::uint64_t in_between = shared->looks.load() - looks;
    if (in_between < 40) return std::to_string(in_between) + " looks after it was rung";
  }
  return "";
}

TEST(Attention, OfASleeperThatIsRung) {
  EXPECT_EQ(others_wait(false, true, ring), "");
  EXPECT_EQ(others_wait(true, true, ring), "");
}

// How often rank 1 looks between two sleeps when it has waited for a while.
double looks_for_a_sleep() {
  await(shared->sleeps, 5);
  const std::uint64_t looks = shared->looks.load(), sleeps = shared->sleeps.load();
  await(shared->sleeps, sleeps + 20);
  return static_cast<double>(shared->looks.load() - looks) / 20;
}

// Nobody is in a call of the host: it sleeps, and looks when a slice is over.
std::string sleep_soundly() {
  const double looks = looks_for_a_sleep();
  return looks < 2 ? "" : std::to_string(looks) + " looks for a sleep, with nobody inside";
}

std::string stay_half_awake() {
  shared->attention.seats[0].inside.store(1);
  const double looks = looks_for_a_sleep();
  return looks > 4 ? "" : std::to_string(looks) + " looks for a sleep";
}

std::string ring_not() {
  const double looks = looks_for_a_sleep();
  return looks > 4 ? "" : std::to_string(looks) + " looks for a sleep, where not everybody rings";
}

std::string connect() {
  shared->attention.strangers = 1;
  return ring_not();
}

TEST(Attention, OfWhoSleepsWhileTheHostMayNeedIt) {
  for (const bool in_exchange : {false, true}) {
    EXPECT_EQ(others_wait(in_exchange, true, sleep_soundly), "");
    EXPECT_EQ(others_wait(in_exchange, true, stay_half_awake), "");
    EXPECT_EQ(others_wait(in_exchange, false, ring_not), "");
    EXPECT_EQ(others_wait(in_exchange, true, connect), "");
  }
}

// The bells of the group and those for the host are the same: neither keeps a rank from the other's wake. Were one
// lost, a slice would end it; so this is about hangs and about results.
TEST(Attention, WhileRanksMeet) {
  void* const memory = mmap(nullptr, sizeof(Shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(memory, MAP_FAILED);
  auto* const attention = &static_cast<Shared*>(memory)->attention;
  RankSetup setup = ranks(4);
  setup.waiting = Waiting::sleep;
  setup.seating = {attention, 0, 4};
  EXPECT_EQ(run_all(setup,
                    [&](Group& group) -> std::string {
                      for (std::uint32_t call = 0; call < 300; ++call) {
                        if (call % 4 == group.rank()) usleep(call % 3 * 300);
                        if (call % 3 == group.rank()) shared_memory::ring_sleepers(*attention);
                        if (const Result result = barrier(group); result != Result::ok) return result_name(result);
                      }
                      return "";
                    }),
            "");
  EXPECT_EQ(attention->asleep[0].load(), 0u);
  munmap(memory, sizeof(Shared));
}

}  // namespace
}  // namespace millrace::collective::test
