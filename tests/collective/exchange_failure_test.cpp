// Exchanges whose ranks disagree, or die: all are told, nobody hangs, nothing is written past a message's end.
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/mman.h>

#include <chrono>
#include <cstring>
#include <vector>

#include "collective/collective.h"
#include "collective/exchange.h"
#include "ranks.h"

namespace millrace::collective::test {
namespace {

RankSetup setup_of(std::uint32_t count) {
  RankSetup setup = ranks(count);
  setup.timeout_seconds = 30;
  setup.selection.exchange_single_copy_bytes = setup.selection.publish_single_copy_bytes = 100000;
  return setup;
}

Data row(std::vector<char>& bytes) { return {bytes.size(), bytes.data(), nullptr, nullptr}; }

// Rank 0 sends messages of these bytes to rank 1, which expects those.
std::string disagree(const std::vector<std::size_t>& sent, const std::vector<std::size_t>& expected) {
  return run_all(setup_of(3), [&](Group& group) -> std::string {
    std::vector<std::vector<char>> buffers;
    std::vector<Message> sends, receives;
    constexpr std::size_t guard = 1 << 20;
    for (const std::size_t bytes : sent) buffers.emplace_back(bytes, 'x');
    if (group.rank() == 0)
      for (std::vector<char>& buffer : buffers) sends.push_back({1, row(buffer)});
    std::vector<std::vector<char>> rooms;
    for (const std::size_t bytes : expected) rooms.emplace_back(bytes + guard, 'o');
    if (group.rank() == 1)
      for (std::size_t index = 0; index < rooms.size(); ++index)
        receives.push_back({0, {expected[index], rooms[index].data(), nullptr, nullptr}});
    Result result = exchange(group, Kind::alltoall, 1, sends, receives);
    for (int more = 0; more < 2 && result == Result::ok; ++more) {
      // The next one too, for what nobody took is found there; and then a barrier, for who had nothing to wait for.
      std::vector<char> word(8), other(8);
      std::vector<Message> to, from;
      if (group.rank() == 0) to.push_back({1, row(word)});
      if (group.rank() == 1) from.push_back({0, row(other)});
      result = more == 0 ? exchange(group, Kind::alltoall, 2, to, from) : barrier(group);
    }
    for (std::size_t index = 0; index < rooms.size(); ++index)
      for (std::size_t at = expected[index]; at < rooms[index].size(); ++at)
        if (rooms[index][at] != 'o') return "wrote past the end";
    return result == Result::mismatch ? "" : std::string("no mismatch but: ") + result_name(result);
  });
}

TEST(ExchangeMismatch, OfBytes) {
  for (const std::size_t first : {std::size_t{0}, std::size_t{8}, std::size_t{5000}, std::size_t{50000},
                                  std::size_t{200000}, std::size_t{600000}})
    for (const std::size_t second : {std::size_t{0}, std::size_t{9}, std::size_t{5001}, std::size_t{300000}})
      if (first != second) {
        EXPECT_EQ(disagree({first}, {second}), "") << first << ' ' << second;
      }
}

TEST(ExchangeMismatch, OfMessages) {
  for (const std::size_t bytes : {std::size_t{8}, std::size_t{5000}, std::size_t{200000}}) {
    EXPECT_EQ(disagree({bytes}, {}), "") << bytes;
    EXPECT_EQ(disagree({}, {bytes}), "") << bytes;
    EXPECT_EQ(disagree({bytes, bytes}, {bytes}), "") << bytes;
    EXPECT_EQ(disagree({bytes}, {bytes, bytes}), "") << bytes;
  }
}

// What a rank calls that differs from what the others call.
TEST(ExchangeMismatch, OfCalls) {
  for (int odd = 0; odd < 4; ++odd) {
    const std::string wrong = run_all(setup_of(3), [&](Group& group) -> std::string {
      std::vector<char> own(64), all(3 * 64);
      std::vector<Message> sends, receives;
      std::vector<Data> everybody;
      for (std::uint32_t rank = 0; rank < 3; ++rank) {
        const Data to{64, all.data() + rank * 64, nullptr, nullptr};
        sends.push_back({rank, row(own)});
        receives.push_back({rank, to});
        everybody.push_back(to);
      }
      const bool other = group.rank() == 1;
      Result result = Result::ok;
      if (odd == 0) result = exchange(group, Kind::alltoall, other ? 1 : 2, sends, receives);
      if (odd == 1) result = exchange(group, other ? Kind::alltoall : Kind::neighbor, 1, sends, receives);
      if (odd == 2)
        result = other ? exchange(group, Kind::allgather, 1, sends, receives)
                       : publish(group, Kind::allgather, 1, row(own), everybody);
      if (odd == 3) {
        if (other) everybody[2].bytes = 8;
        result = publish(group, Kind::allgather, 1, row(own), everybody);
      }
      if (result == Result::ok) result = barrier(group);
      return result == Result::mismatch ? "" : result_name(result);
    });
    EXPECT_EQ(wrong, "") << odd;
  }
}

// A row that is not there. Where memory may not be read, the sender itself would fault: nothing to test then.
TEST(ExchangeMismatch, OfAddresses) {
  for (const bool published : {false, true}) {
    const std::string wrong = run_all(setup_of(2), [&](Group& group) -> std::string {
      if (!group.reads_memory()) return "";
      constexpr std::size_t bytes = 1 << 20;
      void* nothing = mmap(nullptr, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
      std::vector<char> good(bytes), room(bytes);
      const Data own{bytes, group.rank() == 0 ? nothing : good.data(), nullptr, nullptr};
      const Data to{bytes, room.data(), nullptr, nullptr};
      std::vector<Data> everybody{to, to};
      everybody[group.rank()] = {bytes, nullptr, nullptr, nullptr};
      const std::uint32_t peer = 1 - group.rank();
      const Message send{peer, own}, receive{peer, to};
      Result result = published ? publish(group, Kind::allgather, 1, own, everybody)
                                : exchange(group, Kind::alltoall, 1, {&send, 1}, {&receive, 1});
      if (result == Result::ok) result = barrier(group);
      return result == Result::mismatch ? "" : result_name(result);
    });
    EXPECT_EQ(wrong, "") << published;
  }
}

// Rank 1 dies in the middle of a row of calls; the others notice within two seconds.
void die(bool published, std::size_t bytes, Waiting waiting, bool single_copy) {
  RankSetup setup = setup_of(3);
  setup.waiting = waiting;
  setup.selection.single_copy = single_copy;
  const auto outcomes = run_ranks(setup, [&](Group& group) -> std::string {
    using Clock = std::chrono::steady_clock;
    std::vector<char> own(bytes), all(3 * bytes);
    std::vector<Message> sends, receives;
    std::vector<Data> everybody;
    for (std::uint32_t rank = 0; rank < 3; ++rank) {
      const Data to{bytes, all.data() + rank * bytes, nullptr, nullptr};
      sends.push_back({rank, row(own)});
      receives.push_back({rank, to});
      everybody.push_back(to);
    }
    for (int count = 0; count < 100; ++count) {
      if (count == 50 && group.rank() == 1) raise(SIGKILL);
      const auto begin = Clock::now();
      const Result result = published ? publish(group, Kind::allgather, 1, row(own), everybody)
                                      : exchange(group, Kind::alltoall, 1, sends, receives);
      const double seconds = std::chrono::duration<double>(Clock::now() - begin).count();
      if (seconds > 2) return "took " + std::to_string(seconds) + " s";
      if (result == Result::peer_died) return barrier(group) == result ? "" : "forgot that a peer died";
      if (result != Result::ok) return result_name(result);
    }
    return "did not notice";
  });
  EXPECT_EQ(outcomes[0], "") << published << ' ' << bytes << ' ' << single_copy;
  EXPECT_EQ(outcomes[2], "") << published << ' ' << bytes << ' ' << single_copy;
}

TEST(ExchangeDeath, OfAPeer) {
  for (const bool published : {false, true})
    for (const std::size_t bytes : {std::size_t{8}, std::size_t{50000}, std::size_t{1} << 20})
      for (const bool single_copy : {false, true}) die(published, bytes, Waiting::automatic, single_copy);
  die(false, 8, Waiting::spin, true);
  die(false, 200000, Waiting::yield, true);
}

TEST(ExchangeShape, WithoutMailboxesNothingIsDone) {
  RankSetup setup = setup_of(2);
  setup.shape.letters = 0;
  EXPECT_EQ(
      run_all(setup,
              [](Group& group) -> std::string {
                if (exchange(group, Kind::alltoall, 1, {}, {}) != Result::not_supported) return "supported";
                std::vector<char> own(8), all(16);
                std::vector<Data> everybody{{8, all.data(), nullptr, nullptr}, {8, all.data() + 8, nullptr, nullptr}};
                const Result result = publish(group, Kind::allgather, 1, row(own), everybody);
                return result == Result::ok ? "" : result_name(result);
              }),
      "");
  constexpr std::size_t most_bytes = std::size_t{64} << 20;
  EXPECT_NE(shape_for(128, most_bytes).letters, 0u);
  EXPECT_EQ(shape_for(800, most_bytes).letters, 0u);
  EXPECT_EQ(shape_for(800, most_bytes).ranks, 800u);
}

}  // namespace
}  // namespace millrace::collective::test
