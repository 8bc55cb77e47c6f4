// Two ranks that exchange messages of derived types, on a clock of ours.
#include "plan/message_trials.h"

#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <random>
#include <vector>

namespace millrace::plan {
namespace {

std::uint64_t time_ns = 0;
std::uint64_t clock_ns() { return time_ns; }

constexpr std::uint64_t comm = 42;
constexpr std::uint64_t a_second_ns = 1'000'000'000;
// The first window is over by then, in whatever slot it was.
constexpr int first_messages =
    static_cast<int>(MessageTrials::first_window + MessageTrials::first_slots * MessageTrials::slot_messages);

EitherMessage message_of(std::int64_t bytes, Side standard, LayoutClass layout_class = LayoutClass::blocks_32) {
  return {layout_class, MessageForm::blocking, bytes, standard};
}

// What a message takes, by who packs it and who unpacks it.
using Cost = std::function<double(Side sender, Side receiver)>;
Cost costs(double ours_ns, double host_ns, double mixed_ns) {
  return [=](Side sender, Side receiver) {
    return sender != receiver ? mixed_ns : sender == Side::ours ? ours_ns : host_ns;
  };
}

// Messages there and back.
struct PingPong {
  EitherMessage message;
  Cost cost;
  std::unique_ptr<MessageTrials> ranks[2];
  MessageTrials::Answer last[2][2]{};  // of each rank, for what it sent and what it received
  std::uint64_t tried[2]{}, messages = 0;
  double tried_ns = 0;

  PingPong(const EitherMessage& one, Cost what_it_takes, bool is_eager = false)
      : message(one), cost(std::move(what_it_takes)) {
    for (auto& rank : ranks) rank = std::make_unique<MessageTrials>(is_eager, clock_ns, time_ns);
    time_ns += a_second_ns;  // of the program before
  }

  void send(int from) {
    const int to = 1 - from;
    const auto out = ranks[from]->choose(message, {comm, to, true});
    const auto in = ranks[to]->choose(message, {comm, from, false});
    const double ns = cost(out.side, in.side);
    time_ns += static_cast<std::uint64_t>(ns);
    last[from][0] = out;
    last[to][1] = in;
    tried[from] += out.is_tried;
    tried[to] += in.is_tried;
    if (out.is_tried) tried_ns += ns - cost(other(out.side), other(in.side));
    ++messages;
  }
  void run(int trips) {
    for (int i = 0; i < trips; ++i) send(0), send(1);
  }
  // All answers of both ranks.
  bool all(Side side) const {
    for (const auto& rank : last)
      for (const auto& answer : rank)
        if (answer.side != side) return false;
    return true;
  }
};

class Messages : public ::testing::Test {
 protected:
  void SetUp() override { time_ns = 1'000'000'000; }
};

TEST_F(Messages, FasterOneIsTakenAfterTheFirstWindow) {
  for (const Side standard : {Side::host, Side::ours}) {
    const bool host_is_faster = standard == Side::ours;
    PingPong pair(message_of(65536, standard), host_is_faster ? costs(9000, 6000, 8000) : costs(6000, 9000, 8000));
    pair.run(MessageTrials::first_window);
    EXPECT_TRUE(pair.all(standard));
    EXPECT_EQ(pair.tried[0], 0u);
    pair.run(first_messages - static_cast<int>(MessageTrials::first_window));
    EXPECT_TRUE(pair.all(other(standard)));
    // Both messages of a trip.
    EXPECT_EQ(pair.tried[0], MessageTrials::window_messages);
    EXPECT_EQ(pair.tried[1], MessageTrials::window_messages);
    pair.run(100'000);
    EXPECT_TRUE(pair.all(other(standard)));
  }
}

TEST_F(Messages, SlowerOneIsNotTakenAndTheHostsAreFinal) {
  PingPong pair(message_of(65536, Side::host), costs(9000, 6000, 8000));
  pair.run(5000);
  EXPECT_TRUE(pair.all(Side::host));
  EXPECT_TRUE(pair.last[0][0].is_final);
  EXPECT_TRUE(pair.last[1][1].is_final);
  PingPong ours(message_of(65536, Side::ours), costs(6000, 9000, 8000));
  ours.run(first_messages);
  EXPECT_TRUE(ours.all(Side::ours));
  EXPECT_FALSE(ours.last[0][0].is_final);
}

TEST_F(Messages, AboutAsFastStaysWhereItIs) {
  for (const Side standard : {Side::host, Side::ours}) {
    PingPong pair(message_of(65536, standard), costs(9000, 9000, 9000));
    pair.run(20'000);
    EXPECT_TRUE(pair.all(standard));
  }
  // Two windows for who may gain, one for small ones.
  PingPong large(message_of(65536, Side::host), costs(8500, 9000, 9000)),
      small(message_of(512, Side::host), large.cost);
  large.run(first_messages), small.run(first_messages);
  EXPECT_TRUE(large.all(Side::host) && small.all(Side::host));
  EXPECT_FALSE(large.last[0][0].is_final);
  EXPECT_TRUE(small.last[0][0].is_final);
  large.run(10'000);
  EXPECT_TRUE(large.all(Side::ours));
}

// What it takes to count them is ours, not the host's.
TEST_F(Messages, CountingIsTakenFromTheHostsTime) {
  PingPong pair(message_of(1024, Side::host), costs(940, 1000, 1000));
  pair.run(first_messages);
  EXPECT_TRUE(pair.all(Side::host));
  PingPong large(message_of(65536, Side::host), costs(9400, 10000, 10000));
  large.run(first_messages);
  EXPECT_TRUE(large.all(Side::ours));
}

TEST_F(Messages, TryingCostsAHundredthOfCallsAndTime) {
  for (const double ours_ns : {5000.0, 9000.0, 13'000.0, 60'000.0}) {
    const std::uint64_t begin_ns = time_ns;
    PingPong pair(message_of(65536, Side::host), costs(ours_ns, 9000, 9000));
    pair.run(200'000);
    const auto calls = static_cast<double>(2 * pair.messages);
    EXPECT_LE(static_cast<double>(pair.tried[0] + pair.tried[1]), 4 * 36 + 0.01 * calls) << ours_ns;
    EXPECT_LE(pair.tried_ns, 0.01 * static_cast<double>(time_ns - begin_ns)) << ours_ns;
  }
  // What costs nothing is looked at no more often, and never forgotten.
  PingPong even(message_of(65536, Side::ours), costs(9000, 9000, 9000));
  even.run(200'000);
  const auto tried = static_cast<double>(even.tried[0] + even.tried[1]), calls = static_cast<double>(2 * even.messages);
  EXPECT_LE(tried, 4 * 36 + 0.01 * calls);
  EXPECT_GE(tried, 0.009 * calls);
}

TEST_F(Messages, HopelessOneIsGivenUpSoon) {
  PingPong twice(message_of(65536, Side::host), costs(20'000, 9000, 15'000));
  twice.run(first_messages);
  EXPECT_TRUE(twice.all(Side::host));
  EXPECT_LE(twice.tried[0], 4 * MessageTrials::turn_messages);
  EXPECT_TRUE(twice.last[0][0].is_final);
  PingPong ten_times(message_of(65536, Side::host), costs(90'000, 9000, 50'000));
  ten_times.run(first_messages);
  EXPECT_TRUE(ten_times.all(Side::host));
  EXPECT_LE(ten_times.tried[0], 2 * MessageTrials::turn_messages);
  EXPECT_FALSE(ten_times.last[0][0].is_final);
  ten_times.run(5000);
  EXPECT_LE(ten_times.tried[0], 4 * MessageTrials::turn_messages);
  EXPECT_TRUE(ten_times.last[0][0].is_final);
}

// Whoever keeps a core for a slice of time in the middle of a turn.
TEST_F(Messages, InterruptionsDoNotDecide) {
  int found = 0;
  constexpr int jobs = 100;
  for (int job = 0; job < jobs; ++job) {
    std::mt19937 random(static_cast<unsigned>(job));
    const Cost cost = costs(3000, 9000, 8000);
    PingPong pair(message_of(65536, Side::host),
                  [&](Side sender, Side receiver) { return cost(sender, receiver) + (random() % 8 == 0 ? 4e6 : 0); });
    pair.run(first_messages);
    found += pair.all(Side::ours);
  }
  EXPECT_GE(found, jobs * 4 / 5);
}

TEST_F(Messages, WindowEndsWhenItsTimeIsSpent) {
  PingPong pair(message_of(65536, Side::ours), costs(9000, 17'000, 17'000));
  time_ns -= a_second_ns;  // it has only begun
  pair.run(first_messages);
  EXPECT_TRUE(pair.all(Side::ours));
  EXPECT_LT(pair.tried[0], MessageTrials::window_messages);
}

TEST_F(Messages, NoiseAloneChangesLittle) {
  int changed = 0;
  constexpr int jobs = 400;
  for (int job = 0; job < jobs; ++job) {
    std::mt19937 random(static_cast<unsigned>(job));
    std::lognormal_distribution<double> noise(0, 0.1);
    PingPong pair(message_of(65536, Side::host), [&](Side, Side) { return 9000 * noise(random); });
    pair.run(first_messages);
    changed += !pair.all(Side::host);
  }
  EXPECT_LE(changed, jobs / 20);
}

TEST_F(Messages, DifferencesAreFoundInNoise) {
  int changed = 0;
  constexpr int jobs = 100;
  for (int job = 0; job < jobs; ++job) {
    std::mt19937 random(static_cast<unsigned>(job));
    std::lognormal_distribution<double> noise(0, 0.1);
    const Cost cost = costs(6000, 9000, 8000);
    PingPong pair(message_of(65536, Side::host),
                  [&](Side sender, Side receiver) { return cost(sender, receiver) * noise(random); });
    pair.run(first_messages);
    changed += pair.all(Side::ours);
  }
  EXPECT_GE(changed, jobs * 9 / 10);
}

// A loop in which every so many messages take longer, and sweeps forth and back: also as long as turns and pairs.
// (To some order of turns some pattern is like it; there are other orders in later windows.)
TEST_F(Messages, PatternsOfTheLoopAreNoEvidence) {
  int misled = 0, loops = 0;
  for (std::size_t one = 0; one < layout_classes; ++one)
    for (const int period : {2, 3, 4, 5, 6, 8, 10, 12, 16, 20, 24, 30, 36, 60})
      for (int shift = 0; shift < period; ++shift) {
        const PingPong* self = nullptr;
        PingPong pair(message_of(65536, Side::host, static_cast<LayoutClass>(one)), [&](Side, Side) {
          return (shift + static_cast<int>(self->messages / 2)) % period < period / 2 ? 9000.0 : 12'000.0;
        });
        self = &pair;
        pair.run(first_messages);
        misled += !pair.all(Side::host);
        // As long as a pair of turns: no order is like that.
        EXPECT_TRUE(period != 2 * static_cast<int>(MessageTrials::turn_messages) || pair.all(Side::host));
        ++loops;
      }
  EXPECT_LE(misled, loops / 100);
}

// One end has seen a message more: at the turns' beginnings each goes another way, which costs nothing here.
TEST_F(Messages, EndsMayCountDifferently) {
  PingPong pair(message_of(65536, Side::host), costs(6000, 9000, 3000));
  pair.ranks[1]->choose(pair.message, {comm, 0, true});
  pair.ranks[1]->choose(pair.message, {comm, 0, false});
  pair.run(first_messages);
  EXPECT_TRUE(pair.all(Side::ours));
}

// Within the quarter that is one size.
TEST_F(Messages, SizesMayVary) {
  PingPong pair(message_of(65536, Side::host), costs(6000, 9000, 8000));
  for (int i = 0; i < first_messages; ++i) {
    pair.message.bytes = 65536 + 1000 * (i % 7);
    pair.run(1);
  }
  EXPECT_TRUE(pair.all(Side::ours));
}

TEST_F(Messages, WindowsOfSeveralClassesBeginInAllSlots) {
  std::vector<int> classes(MessageTrials::first_slots);
  for (std::size_t one = 0; one < layout_classes; ++one)
    for (std::int64_t bytes = 1024; bytes <= 1 << 20; bytes *= 2) {
      MessageTrials rank(true, clock_ns, time_ns);
      const EitherMessage message = message_of(bytes, Side::host, static_cast<LayoutClass>(one));
      std::uint64_t number = 0;
      while (!rank.choose(message, {comm, 1, true}).is_tried) ++number;
      ASSERT_GE(number, MessageTrials::first_window);
      const std::uint64_t slot = (number - MessageTrials::first_window) / MessageTrials::slot_messages;
      ASSERT_LT(slot, classes.size());
      ++classes[slot];
    }
  for (const int in_slot : classes) EXPECT_GE(in_slot, 20);
}

// The peer has another type, or no Millrace: what counts is what our side is worth.
TEST_F(Messages, OneEndAloneChoosesForItself) {
  for (const double mixed_ns : {6000.0, 12'000.0}) {
    MessageTrials rank(false, clock_ns, time_ns);
    const EitherMessage message = message_of(65536, Side::host);
    const Cost cost = costs(5000, 9000, mixed_ns);
    MessageTrials::Answer out{};
    time_ns += a_second_ns;
    for (int i = 0; i < first_messages; ++i) {
      out = rank.choose(message, {comm, 1, true});
      time_ns += static_cast<std::uint64_t>(cost(out.side, Side::host));
    }
    EXPECT_EQ(out.side, mixed_ns < 9000 ? Side::ours : Side::host);
  }
}

// Both are faster with ours, but the other end stays with the host, and then ours are slower.
TEST_F(Messages, ChangeIsTakenBackWhereTheOtherEndDoesNotFollow) {
  MessageTrials rank(false, clock_ns, time_ns), peer(false, clock_ns, time_ns);
  const EitherMessage message = message_of(65536, Side::host);
  const Cost cost = costs(5000, 9000, 20'000);
  Side out = Side::host;
  time_ns += a_second_ns;
  std::uint64_t tried = 0;
  for (int i = 0; i < 1000; ++i) {
    const auto answer = rank.choose(message, {comm, 1, true});
    const auto in = peer.choose(message, {comm, 0, false});
    out = answer.side;
    tried += answer.is_tried;
    time_ns += static_cast<std::uint64_t>(cost(out, in.is_tried ? in.side : Side::host));
    EXPECT_FALSE(rank.take_change());
  }
  EXPECT_EQ(tried, MessageTrials::window_messages / 2);
  EXPECT_EQ(out, Side::host);
}

TEST_F(Messages, SeveralOfOneLoopAreToldApart) {
  struct One {
    EitherMessage message;
    double ours_ns, host_ns;
  };
  const std::vector<One> loop{{message_of(65536, Side::host, LayoutClass::blocks_4), 6000, 9000},
                              {message_of(65536, Side::host, LayoutClass::sparse), 12'000, 9000},
                              {message_of(30000, Side::ours, LayoutClass::list_short), 8000, 4000},
                              {message_of(50000, Side::host, LayoutClass::mixed), 3000, 6000}};
  MessageTrials ranks[2] = {MessageTrials(true, clock_ns, time_ns), MessageTrials(true, clock_ns, time_ns)};
  std::vector<Side> sides(loop.size());
  for (int i = 0; i < 20'000; ++i)
    for (std::size_t one = 0; one < loop.size(); ++one)
      for (int rank = 0; rank < 2; ++rank) {
        const auto out = ranks[rank].choose(loop[one].message, {comm, 1 - rank, true});
        ranks[1 - rank].choose(loop[one].message, {comm, rank, false});
        sides[one] = out.side;
        time_ns += static_cast<std::uint64_t>(out.side == Side::ours ? loop[one].ours_ns : loop[one].host_ns);
      }
  EXPECT_EQ(sides, (std::vector<Side>{Side::ours, Side::host, Side::host, Side::ours}));
}

// The pair whose messages were looked at has no more of them.
TEST_F(Messages, WindowDoesNotWaitForeverForAPairThatIsGone) {
  MessageTrials rank(false, clock_ns, time_ns);
  const EitherMessage message = message_of(65536, Side::host);
  time_ns += a_second_ns;
  const auto send = [&](std::uint64_t of_comm) {
    const auto out = rank.choose(message, {of_comm, 1, true});
    time_ns += out.side == Side::ours ? 5000 : 9000;
    return out;
  };
  while (!send(1).is_tried) {
  }
  MessageTrials::Answer last{};
  for (int i = 0; i < 8000; ++i) last = send(2);
  EXPECT_EQ(last.side, Side::ours);
}

TEST_F(Messages, AnySourceIsNotCountedAndGoesAsTheOthers) {
  MessageTrials rank(false, clock_ns, time_ns);
  const EitherMessage message = message_of(65536, Side::host);
  for (int i = 0; i < 1000; ++i) {
    const auto answer = rank.choose(message, {comm, -1, false});
    EXPECT_EQ(answer.side, Side::host);
    EXPECT_FALSE(answer.is_tried);
    time_ns += 1000;
  }
  for (int i = 0; i < 400; ++i) time_ns += rank.choose(message, {comm, 1, true}).side == Side::ours ? 5000 : 9000;
  EXPECT_EQ(rank.choose(message, {comm, -1, false}).side, Side::ours);
}

// More types, sizes and peers than there is room for.
TEST_F(Messages, TooManyOfThemStayWhereTheyAre) {
  MessageTrials rank(false, clock_ns, time_ns);
  for (int round = 0; round < 3; ++round)
    for (int peer = 0; peer < 1000; ++peer)
      for (int size = 10; size < 30; ++size)
        for (std::size_t one = 0; one < layout_classes; ++one) {
          const auto answer = rank.choose(
              message_of(std::int64_t{1} << size, Side::ours, static_cast<LayoutClass>(one)), {comm, peer, true});
          EXPECT_EQ(answer.side, Side::ours);
        }
}

}  // namespace
}  // namespace millrace::plan
