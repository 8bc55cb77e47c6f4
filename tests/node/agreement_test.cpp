// Members with random histories, as threads and as fibers of one thread: whatever they do, no two of them do the same
// call in different ways.
#include "node/agreement.h"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <ostream>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "fibers.h"

namespace millrace::node {
namespace {

using State = Agreement::State;

void give_way() {
  if (Fibers* const fibers = Fibers::current())
    fibers->give_way();
  else
    std::this_thread::yield();
}

// A member of its own mind may be held up anywhere it asks for something.
void come_late() {
  if (Fibers::current()) give_way();
}

std::uint64_t clock_ns() {
  if (const Fibers* const fibers = Fibers::current()) return fibers->now_ns();
  return static_cast<std::uint64_t>(std::chrono::steady_clock::now().time_since_epoch().count());
}

// What members do with each other in one history.
struct History {
  std::uint32_t members = 2;
  std::uint64_t calls = 40;
  std::uint64_t seed = 0;
  bool synchronising = false;  // every call; else a coin is thrown for each
  double fails = 0;            // probability that a call fails at one member, after it has taken place
  double errs = 0;             // that it makes one more, alone, which the host refuses
  double leaves_by_jump = 0;   // that it is left without its end
  double cannot_prepare = 0;
  double never_joins = 0;  // that a member does not take part at all
  double skips = 0;        // that a member makes one call behind our back
  double ends = 0;         // that it leaves the communicator before a call, as do all others at the same one
};

// A host: a call that synchronises lets nobody out before all are in; another lets everybody through.
class Host {
 public:
  explicit Host(std::uint32_t members) : entered_(members) {}
  void call(std::uint32_t member, std::uint64_t number, bool synchronises) {
    entered_[member].store(number);
    if (!synchronises) return;
    for (auto& each : entered_)
      while (each.load() < number) give_way();
  }
  // For who does it no more: nobody is held up by it.
  void free(std::uint32_t member) { entered_[member].store(~std::uint64_t{0}); }

 private:
  std::vector<std::atomic<std::uint64_t>> entered_;
};

struct Members {
  explicit Members(std::uint32_t count)
      : memory(new(std::align_val_t{64}) char[record_bytes(count)]{}),
        record(new(memory) AgreementRecord{}),
        shared_from(count) {
    for (auto& each : shared_from) each.store(never);
  }
  ~Members() { operator delete[](memory, std::align_val_t{64}); }
  Members(const Members&) = delete;
  Members& operator=(const Members&) = delete;

  static constexpr std::uint64_t never = ~std::uint64_t{0};
  char* memory;
  AgreementRecord* record;
  std::mutex mutex;
  std::vector<std::atomic<std::uint64_t>> shared_from;  // true number of the first call done in shared memory
  std::atomic<int> wrong{0};
  std::atomic<int> last{0};
};

struct One {
  Members* members;
  const History* history;
  std::mt19937_64* random;
};

bool happens(std::mt19937_64& random, double probability) {
  return std::uniform_real_distribution<double>(0, 1)(random) < probability;
}

AgreementUser user_of(One& one) {
  AgreementUser user;
  user.prepare = [](void* self) {
    const One& who = *static_cast<One*>(self);
    come_late();
    return !happens(*who.random, who.history->cannot_prepare);
  };
  user.find_memory = [](void*) {
    come_late();
    return 1u;
  };
  user.pass_time = [](void*, std::uint32_t) { give_way(); };
  user.now_ns = clock_ns;
  user.lock = [](void* self) {
    static_cast<One*>(self)->members->mutex.lock();
    return true;
  };
  user.unlock = [](void* self) { static_cast<One*>(self)->members->mutex.unlock(); };
  user.user = &one;
  return user;
}

void be_member(const History& history, Host& host, Members& members, std::uint32_t member) {
  std::mt19937_64 all(history.seed);                         // what the program does alike on all members
  std::mt19937_64 own(history.seed * 1000003 + member + 1);  // what happens to this one
  One one{&members, &history, &own};
  std::optional<Agreement> joined;
  if (!happens(own, history.never_joins)) joined.emplace(*members.record, member, history.members, user_of(one), 0, 0);
  bool jumps = false;
  for (std::uint64_t call = 1; call <= history.calls; ++call) {
    const bool synchronises = history.synchronising || all() % 2 == 0;
    // Where a call may be missed all are different: among equal ones that cannot be seen.
    const std::uint64_t kind = history.skips > 0 ? all() | 1 : all() % 4 + 1;
    if (happens(all, history.ends)) break;
    if (!joined) {
      host.call(member, call, synchronises);
      continue;
    }
    Agreement& agreement = *joined;
    if (Fibers::current()) {
      for (std::uint64_t rest = own() % 4; rest > 0; --rest) give_way();
    } else if (own() % 16 == 0) {
      std::this_thread::sleep_for(std::chrono::microseconds(own() % 200));
    }
    if (members.shared_from[member].load() != Members::never) continue;  // in shared memory now
    // Before any promise: whoever has promised to do its next call in shared memory and makes it behind our back breaks
    // its word, and only the label of that call can tell.
    if (call <= 2 && happens(own, history.skips)) {
      host.call(member, call, synchronises);
      continue;
    }
    if (agreement.state() == State::undecided && !jumps && happens(own, history.errs)) {
      if (agreement.enter() == State::shared) {
        members.shared_from[member].store(call);
        host.free(member);
        continue;
      }
      agreement.leave(kind, false, synchronises);
    }
    const State before = agreement.state();
    if (before == State::undecided || jumps) {
      jumps = false;
      if (agreement.enter() == State::shared) {
        members.shared_from[member].store(call);
        host.free(member);
        continue;
      }
    }
    host.call(member, call, synchronises);
    if (agreement.state() != State::undecided) continue;
    if (happens(own, history.leaves_by_jump)) {
      jumps = true;
      continue;
    }
    agreement.leave(kind, !happens(own, history.fails), synchronises);
  }
  host.free(member);
  if (joined && joined->end()) members.last.fetch_add(1);
}

// The numbers from which each member was in shared memory: all the same, or never.
std::string run(const History& history, bool as_fibers, bool& shared) {
  Host host(history.members);
  Members members(history.members);
  if (as_fibers) {
    std::vector<std::function<void()>> bodies;
    for (std::uint32_t member = 0; member < history.members; ++member)
      bodies.emplace_back([&, member] { be_member(history, host, members, member); });
    if (!Fibers(history.seed).run(bodies)) return "they wait for each other";
  } else {
    std::vector<std::thread> threads;
    for (std::uint32_t member = 0; member < history.members; ++member)
      threads.emplace_back(be_member, std::cref(history), std::ref(host), std::ref(members), member);
    for (std::thread& thread : threads) thread.join();
  }
  const std::uint64_t first = members.shared_from[0].load();
  shared = first != Members::never;
  std::string said;
  for (std::uint32_t member = 1; member < history.members; ++member)
    if (members.shared_from[member].load() != first)
      said += " member " + std::to_string(member) + " from " + std::to_string(members.shared_from[member].load()) +
              ", member 0 from " + std::to_string(first);
  if (members.last.load() > 1) said += " more than one was the last";
  return said;
}

int number_in_environment(const char* name, int standard) {
  const char* text = std::getenv(name);
  return text ? std::atoi(text) : standard;
}

struct Kind {
  const char* name;
  History history;
  bool must_share;  // at least once
};

void PrintTo(const Kind& kind, std::ostream* out) { *out << kind.name; }

class Histories : public testing::TestWithParam<Kind> {};

void try_histories(const Kind& kind, bool as_fibers, int histories) {
  int shared_ones = 0;
  for (int seed = 1; seed <= histories; ++seed) {
    History history = kind.history;
    history.seed = static_cast<std::uint64_t>(seed);
    history.members = 2 + static_cast<std::uint32_t>(seed) % 4;
    bool shared = false;
    const std::string said = run(history, as_fibers, shared);
    ASSERT_EQ(said, "") << kind.name << " with seed " << seed;
    shared_ones += shared;
  }
  std::printf("%d of %d came to share\n", shared_ones, histories);
  if (kind.must_share) {
    EXPECT_GT(shared_ones, histories / 2);
  }
}

TEST_P(Histories, OfThreadsEndInOneAnswer) {
  try_histories(GetParam(), false, number_in_environment("MILLRACE_TEST_THREAD_HISTORIES", 200));
}

TEST_P(Histories, OfFibersEndInOneAnswer) {
  try_histories(GetParam(), true, number_in_environment("MILLRACE_TEST_HISTORIES", 2000));
}

History with(double History::*what, double probability) {
  History history;
  history.*what = probability;
  return history;
}

History all_synchronise() {
  History history;
  history.synchronising = true;
  return history;
}

History everything() {
  History history;
  history.fails = history.errs = history.leaves_by_jump = 0.005;
  history.skips = 0.05;
  history.cannot_prepare = 0.1;
  history.never_joins = 0.02;
  history.ends = 0.01;
  return history;
}

INSTANTIATE_TEST_SUITE_P(All, Histories,
                         testing::Values(Kind{"synchronising", all_synchronise(), true}, Kind{"mixed", History{}, true},
                                         Kind{"failing", with(&History::fails, 0.02), false},
                                         Kind{"erring", with(&History::errs, 0.02), false},
                                         Kind{"jumping", with(&History::leaves_by_jump, 0.02), false},
                                         Kind{"refusing", with(&History::cannot_prepare, 0.2), false},
                                         Kind{"missing", with(&History::never_joins, 0.2), false},
                                         Kind{"skipping", with(&History::skips, 0.2), false},
                                         Kind{"ending", with(&History::ends, 0.03), false},
                                         Kind{"everything", everything(), false}),
                         [](const auto& parameter) { return std::string(parameter.param.name); });

// One thread is both members, and the clock: where the first one waits, time passes, and the other makes calls.
struct Pace {
  static constexpr std::uint64_t call_ns = 1'000, round_ns = 500;
  static std::uint64_t now_ns;
  alignas(64) char memory[record_bytes(2)] = {};
  std::optional<Agreement> first, other;
  bool other_comes = true;
  std::uint64_t waited_ns = 0;

  Pace() {
    now_ns = 1'000'000'000;
    auto* const record = new (memory) AgreementRecord;
    for (std::uint32_t member = 0; member < 2; ++member) new (members_of(*record) + member) AgreementMember;
    AgreementUser user;
    user.prepare = [](void*) { return true; };
    user.find_memory = [](void*) { return 1u; };
    user.now_ns = [] { return now_ns; };
    user.lock = [](void*) { return true; };
    user.unlock = [](void*) {};
    user.user = this;
    user.pass_time = [](void*, std::uint32_t) { now_ns += round_ns; };
    other.emplace(*record, 1, 2, user, 0, 0);
    user.pass_time = [](void* self, std::uint32_t round) {
      auto& pace = *static_cast<Pace*>(self);
      now_ns += round_ns;
      pace.waited_ns += round_ns;
      if (pace.other_comes && round % 3 == 2) call(*pace.other);
    };
    first.emplace(*record, 0, 2, user, 0, 0);
  }

  static void call(Agreement& member) {
    if (member.enter() != Agreement::State::undecided) return;
    now_ns += call_ns;
    member.leave(1, true, false);
  }
};
std::uint64_t Pace::now_ns = 0;

TEST(Waits, ForWhoIsSomeCallsBehindAlsoInTheBeginning) {
  Pace pace;
  int calls = 0;
  for (; calls < 1000 && pace.first->state() == Agreement::State::undecided; ++calls) {
    Pace::call(*pace.first);
    if (calls >= 40) Pace::call(*pace.other);  // that many behind
  }
  EXPECT_EQ(pace.first->state(), Agreement::State::shared);
  EXPECT_LT(calls, 200);
}

TEST(Waits, ForWhoDoesNotComeTakeATimeThatIsBounded) {
  Pace pace;
  pace.other_comes = false;
  const std::uint64_t begin_ns = Pace::now_ns;
  for (int calls = 0; calls < 100'000; ++calls) Pace::call(*pace.first);
  EXPECT_EQ(pace.first->state(), Agreement::State::undecided);
  const std::uint64_t all_ns = Pace::now_ns - begin_ns;
  EXPECT_GT(pace.waited_ns, 0u);
  // Each of those at calls twice as far takes a hundredth of the time until then.
  EXPECT_LT(pace.waited_ns, 200'000 + all_ns / 40);
}

TEST(Decision, IsOneWord) {
  const Decision decision{77, 123456789012, Stand::promised};
  const Decision again = Decision::from(decision.word());
  EXPECT_EQ(again.attempt, 77u);
  EXPECT_EQ(again.call, 123456789012u);
  EXPECT_EQ(again.stand, Stand::promised);
  EXPECT_EQ(Decision::from(0).stand, Stand::none);
}

}  // namespace
}  // namespace millrace::node
