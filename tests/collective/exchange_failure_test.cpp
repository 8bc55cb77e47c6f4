// Exchanges whose ranks disagree, or die: all are told, nobody hangs, nothing is written past a message's end.
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <ctime>
#include <functional>
#include <new>
#include <thread>
#include <vector>

#include "collective/blocks.h"
#include "collective/collective.h"
#include "collective/exchange.h"
#include "messages.h"
#include "ranks.h"

namespace millrace::collective::test {
namespace {

void rows_from(RankSetup& setup, std::uint32_t bytes) {
  Selection& selection = setup.selection;
  selection.exchange_single_copy_bytes = selection.exchange_single_copy_crowded_bytes = bytes;
  selection.publish_single_copy_bytes = selection.publish_single_copy_crowded_bytes = bytes;
}

RankSetup setup_of(std::uint32_t count) {
  RankSetup setup = ranks(count);
  setup.timeout_seconds = 30;
  rows_from(setup, 100000);
  return setup;
}

Data row(std::vector<char>& bytes) { return {bytes.size(), bytes.data(), nullptr, nullptr}; }

// Rank 0 sends messages of these bytes to rank 1, which expects those; then all go on. What rank 1 gets of that call,
// in words, or what went wrong; `mismatch` on all ranks is an outcome as well.
std::string disagree(const std::vector<std::size_t>& sent, const std::vector<std::size_t>& expected) {
  const auto outcomes = run_ranks(setup_of(3), [&](Group& group) -> std::string {
    std::vector<std::vector<char>> buffers, rooms;
    std::vector<Message> sends, receives;
    constexpr std::size_t guard = 1 << 20;
    for (const std::size_t bytes : sent) buffers.emplace_back(bytes, 'x');
    for (const std::size_t bytes : expected) rooms.emplace_back(bytes + guard, 'o');
    if (group.rank() == 0)
      for (std::vector<char>& buffer : buffers) sends.push_back({1, row(buffer)});
    if (group.rank() == 1)
      for (std::size_t index = 0; index < rooms.size(); ++index)
        receives.push_back({0, {expected[index], rooms[index].data(), nullptr, nullptr}});
    // Two ranks may find out before the third has begun: after a barrier it hears of that in a call, not in start().
    Result first = barrier(group);
    if (first == Result::ok) first = exchange(group, Kind::alltoall, 1, sends, receives);
    Result result = first == Result::truncated ? Result::ok : first;
    for (int more = 0; more < 2 && result == Result::ok; ++more) {
      // The next one too, for what nobody took is found there; and then a barrier, for who had nothing to wait for.
      std::vector<char> word(8, 'w'), other(8);
      std::vector<Message> to, from;
      if (group.rank() == 0) to.push_back({1, row(word)});
      if (group.rank() == 1) from.push_back({0, row(other)});
      result = more == 0 ? exchange(group, Kind::alltoall, 2, to, from) : barrier(group);
      if (more == 0 && result == Result::ok && group.rank() == 1 && other != word) return "wrong data afterwards";
    }
    for (std::size_t index = 0; index < rooms.size() && group.rank() == 1; ++index) {
      const std::size_t came = index < sent.size() ? std::min(sent[index], expected[index]) : 0;
      for (std::size_t at = result == Result::ok ? 0 : expected[index]; at < rooms[index].size(); ++at)
        if (rooms[index][at] != (at < came ? 'x' : 'o')) return at < came ? "wrong data" : "wrote what did not come";
    }
    return result_name(result == Result::ok ? first : result);
  });
  if (outcomes[0] == outcomes[1] && outcomes[1] == outcomes[2]) return outcomes[1];
  const bool others_fine = outcomes[0] == result_name(Result::ok) && outcomes[2] == outcomes[0];
  return others_fine ? "only there: " + outcomes[1] : outcomes[0] + ", " + outcomes[1] + ", " + outcomes[2];
}

const std::string all_fine = result_name(Result::ok), none_is = result_name(Result::mismatch),
                  one_is_told = std::string("only there: ") + result_name(Result::truncated);

// Less than expected is what has come; of more, the rank that expected less is told; and all go on.
TEST(ExchangeMismatch, OfBytes) {
  for (const std::size_t first : {std::size_t{0}, std::size_t{8}, std::size_t{5000}, std::size_t{50000},
                                  std::size_t{200000}, std::size_t{600000}})
    for (const std::size_t second : {std::size_t{0}, std::size_t{9}, std::size_t{5001}, std::size_t{300000}}) {
      EXPECT_EQ(disagree({first}, {second}), first <= second ? all_fine : one_is_told) << first << ' ' << second;
      EXPECT_EQ(disagree({first, 100}, {second, 100}), first <= second ? all_fine : one_is_told)
          << first << ' ' << second;
    }
}

// Messages that are not expected lie there and trouble nobody, but for rows, whose sender waits until they are read.
TEST(ExchangeMismatch, OfMessages) {
  for (const std::size_t bytes : {std::size_t{8}, std::size_t{5000}}) {
    EXPECT_EQ(disagree({bytes}, {}), all_fine) << bytes;
    EXPECT_EQ(disagree({bytes, bytes}, {bytes}), all_fine) << bytes;
  }
  for (const std::size_t bytes : {std::size_t{8}, std::size_t{5000}, std::size_t{200000}}) {
    EXPECT_EQ(disagree({}, {bytes}), none_is) << bytes;
    EXPECT_EQ(disagree({bytes}, {bytes, bytes}), none_is) << bytes;
  }
  const std::string of_a_row = disagree({200000}, {});
  EXPECT_TRUE(of_a_row == all_fine || of_a_row == none_is) << of_a_row;
}

// What a rank calls that differs from what the others call.
TEST(ExchangeMismatch, OfCalls) {
  for (int odd = 0; odd < 7; ++odd) {
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
      Result result = barrier(group);  // as above
      if (result != Result::ok) return result == Result::mismatch ? "" : result_name(result);
      if (odd == 0) result = exchange(group, Kind::alltoall, other ? 1 : 2, sends, receives);
      if (odd == 1) result = exchange(group, other ? Kind::alltoall : Kind::neighbor, 1, sends, receives);
      if (odd == 2)
        result = other ? exchange(group, Kind::allgather, 1, sends, receives)
                       : publish(group, Kind::allgather, 1, row(own), everybody);
      const std::vector<Data> blocks(3, row(own));
      if (odd == 4)
        result = other ? exchange(group, Kind::alltoall, 1, sends, receives)
                       : exchange_blocks(group, Kind::alltoall, 64, blocks, everybody);
      // Roots that differ: of Gather rank 1 takes itself for it, of Scatter, too.
      const std::uint32_t root = other ? 1 : 0;
      const bool at_root = group.rank() == root;
      const std::span<const Data> none, received = everybody, sent = blocks;
      if (odd == 5) result = exchange_blocks(group, Kind::gather, 64, sent.first(1), at_root ? received : none, root);
      if (odd == 6) result = exchange_blocks(group, Kind::scatter, 64, at_root ? sent : none, received.first(1), root);
      if (odd == 3) result = publish(group, other ? Kind::allgather : Kind::alltoall, 1, row(own), everybody);
      if (result == Result::ok) result = barrier(group);
      return result == Result::mismatch ? "" : result_name(result);
    });
    EXPECT_EQ(wrong, "") << odd;
  }
}

// What a rank publishes and what others expect of it.
TEST(PublishMismatch, OfBytes) {
  for (const std::size_t sent :
       {std::size_t{0}, std::size_t{8}, std::size_t{100}, std::size_t{5000}, std::size_t{70000}, std::size_t{200000}})
    for (const std::size_t expected : {std::size_t{0}, std::size_t{9}, std::size_t{104}, std::size_t{5001},
                                       std::size_t{70001}, std::size_t{300000}}) {
      const std::string wrong = run_all(setup_of(3), [&](Group& group) -> std::string {
        // Rank 1 expects what it should of all but rank 2; the others what comes.
        const bool odd = group.rank() == 1;
        constexpr std::size_t guard = 100;
        for (int turn = 0; turn < 3; ++turn) {
          std::vector<std::vector<char>> rooms;
          std::vector<Data> everybody;
          std::vector<char> own(group.rank() == 2 ? sent : 5000, static_cast<char>('a' + group.rank()));
          for (std::uint32_t rank = 0; rank < 3; ++rank) {
            const std::size_t bytes = rank == 2 ? (odd ? expected : sent) : 5000;
            rooms.emplace_back(bytes + guard, 'o');
            everybody.push_back({bytes, nullptr, nullptr, nullptr});
          }
          for (std::uint32_t rank = 0; rank < 3; ++rank) everybody[rank].row = rooms[rank].data();
          const Result result = publish(group, Kind::allgather, 1, row(own), everybody);
          if (result != (odd && sent > expected ? Result::truncated : Result::ok)) return result_name(result);
          for (std::uint32_t rank = 0; rank < 3; ++rank)
            for (std::size_t at = 0; at < rooms[rank].size(); ++at) {
              const std::size_t came = std::min(rank == 2 ? sent : 5000, everybody[rank].bytes);
              if (rooms[rank][at] != (at < came ? static_cast<char>('a' + rank) : 'o')) return "wrong data";
            }
        }
        const Result result = barrier(group);
        return result == Result::ok ? "" : result_name(result);
      });
      EXPECT_EQ(wrong, "") << sent << ' ' << expected;
    }
}

// Memory that its process can read and others may not: it comes in pieces. As root everything may be read, so ranks
// become somebody else first.
void become_unreadable(bool unreadable) {
  if (geteuid() == 0 && setuid(65534) != 0) _exit(3);
  prctl(PR_SET_DUMPABLE, unreadable ? 0 : 1, 0, 0, 0);
}

// Rank 1 of `count` can not be read, in some calls, while they go on.
std::string go_unreadable(std::uint32_t count, bool published) {
  RankSetup setup = setup_of(count);
  rows_from(setup, 5000);
  return run_all(setup, [&](Group& group) -> std::string {
    if (!group.reads_memory()) return "cannot read memory here";
    for (unsigned turn = 0; turn < 60; ++turn) {
      if (turn % 20 == 0) become_unreadable(turn == 20 && group.rank() == 1);
      if (barrier(group) != Result::ok) return "no barrier";
      std::vector<std::size_t> bytes;
      for (std::uint32_t rank = 0; rank < count; ++rank) bytes.push_back(turn * 997 * (rank + 1) % 30000);
      const auto form = static_cast<Form>(turn % 3);
      std::string wrong;
      if (published) {
        wrong = check_publish(group, bytes, turn, form, turn % 2 == 0);
      } else {
        Traffic traffic{count, turn, {}};
        for (std::uint32_t pair = 0; pair < count * count; ++pair)
          traffic.bytes.push_back(
              std::vector<std::size_t>{bytes[pair % count], 100, bytes[pair / count], 2 * bytes[0]});
        wrong = check_exchange(group, traffic, form);
      }
      if (!wrong.empty()) return "turn " + std::to_string(turn) + ": " + wrong;
    }
    return "";
  });
}

TEST(Unreadable, MessagesComeInPieces) {
  for (const std::uint32_t count : {2u, 3u, 5u}) EXPECT_EQ(go_unreadable(count, false), "") << count;
}

TEST(Unreadable, WhatIsPublishedComesInChunks) {
  for (const std::uint32_t count : {2u, 3u, 5u}) EXPECT_EQ(go_unreadable(count, true), "") << count;
}

TEST(Unreadable, BcastComesInChunks) {
  for (const std::uint32_t count : {2u, 3u}) {
    RankSetup setup = setup_of(count);
    setup.selection.bcast_single_copy_ranks = 3;
    EXPECT_EQ(run_all(setup,
                      [&](Group& group) -> std::string {
                        if (!group.reads_memory()) return "cannot read memory here";
                        for (unsigned turn = 0; turn < 150; ++turn) {
                          if (turn % 50 == 0) become_unreadable(turn == 50 && group.rank() == 1);
                          if (barrier(group) != Result::ok) return "no barrier";
                          for (std::uint32_t root = 0; root < count; ++root) {
                            std::vector<char> buffer(100000 + turn, group.rank() == root ? 'x' : 'o');
                            const Result result = bcast(group, buffer.data(), buffer.size(), root);
                            if (result != Result::ok) return result_name(result);
                            if (buffer != std::vector<char>(buffer.size(), 'x')) return "wrong data";
                          }
                        }
                        return "";
                      }),
              "");
  }
}

// Blocks that two ranks swap. One of them can not be read for some calls, then both, then none again.
TEST(Unreadable, SwappedBlocksComeInChunks) {
  RankSetup setup = setup_of(2);
  setup.selection.block_pair_bytes = never;
  setup.selection.choose_copies = false;  // once, where that can be
  EXPECT_EQ(
      run_all(setup,
              [&](Group& group) -> std::string {
                if (!group.reads_memory()) return "cannot read memory here";
                const std::uint32_t self = group.rank(), other = 1 - self;
                bool was_refused = false;
                for (unsigned turn = 0; turn < 400; ++turn) {
                  const unsigned phase = turn / 100;
                  if (turn % 100 == 0) become_unreadable(phase == 2 || (phase == 1 && self == 1));
                  if (barrier(group) != Result::ok) return "no barrier";
                  const std::size_t bytes = group.shape().slot_bytes + 1 + turn * 997 % 300000;
                  const Kind kind = turn % 2 == 0 ? Kind::allgather : Kind::alltoall;
                  std::vector<char> sent(bytes, static_cast<char>('a' + turn % 13 + self)), came(2 * bytes + 1, 'o');
                  const Data mine{bytes, sent.data(), nullptr, nullptr};
                  const Data received[] = {{bytes, came.data(), nullptr, nullptr},
                                           {bytes, came.data() + bytes, nullptr, nullptr}};
                  const Data sent_to[] = {mine, mine};
                  const std::uint64_t before = group.pair_rows_again;
                  const Result result = exchange_blocks(group, kind, bytes, sent_to, received);
                  if (result != Result::ok) return result_name(result);
                  was_refused = was_refused || group.pair_rows_again != before;
                  for (const std::uint32_t rank : {self, other})
                    if (!std::all_of(came.data() + rank * bytes, came.data() + (rank + 1) * bytes,
                                     [&](char byte) { return byte == static_cast<char>('a' + turn % 13 + rank); }))
                      return "wrong data in turn " + std::to_string(turn);
                  if (came.back() != 'o') return "written behind the end";
                }
                return was_refused ? "" : "nothing was refused";
              }),
      "");
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

// Rank 0 waits for rank 2 to take a row, while rank 1 has long taken its letter, which frees nothing that is lacking;
// what rank 2 does instead.
std::string wait_beside_a_taken_letter(Waiting waiting, const std::function<void()>& instead,
                                       const std::function<std::string(Result, double)>& verdict) {
  void* const memory =
      mmap(nullptr, sizeof(shared_memory::Attention), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) return "no memory";
  auto* const attention = new (memory) shared_memory::Attention;
  attention->everybody_rings = 1;
  RankSetup setup = setup_of(3);
  setup.waiting = waiting;
  setup.progress = [](void*) { return true; };
  setup.seating = {attention, 0, 3};
  const std::string outcome = run_all(setup, [&](Group& group) -> std::string {
    std::vector<char> word(8, 'w'), large(200000, 'x');
    std::vector<Message> sends, receives;
    if (group.rank() == 0) sends = {{1, row(word)}, {2, row(large)}};
    if (group.rank() == 1) receives = {{0, row(word)}};
    if (group.rank() == 2) receives = {{0, row(large)}};
    if (barrier(group) != Result::ok) return "no barrier";
    if (group.rank() == 2) instead();
    const auto begin = std::chrono::steady_clock::now();
    const Result result = exchange(group, Kind::alltoall, 1, sends, receives);
    const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    if (group.rank() == 0) return verdict(result, seconds);
    return result == Result::ok ? "" : result_name(result);
  });
  munmap(memory, sizeof(shared_memory::Attention));
  return outcome;
}

TEST(ExchangeDeath, BehindALetterThatHelpsNobody) {
  for (const Waiting waiting : {Waiting::spin, Waiting::yield, Waiting::sleep}) {
    const std::string outcome = wait_beside_a_taken_letter(
        waiting, [] { raise(SIGKILL); },
        [](Result result, double seconds) -> std::string {
          if (seconds > 2) return "took " + std::to_string(seconds) + " s";
          return result == Result::peer_died ? "" : result_name(result);
        });
    EXPECT_EQ(outcome, "rank 2: killed by signal 9\n") << static_cast<int>(waiting);
  }
}

// It gives its core away meanwhile.
TEST(ExchangeSleep, BesideALetterThatHelpsNobody) {
  const std::string outcome = wait_beside_a_taken_letter(
      Waiting::sleep, [] { std::this_thread::sleep_for(std::chrono::milliseconds(500)); },
      [](Result result, double seconds) -> std::string {
        const double busy_seconds = static_cast<double>(std::clock()) / CLOCKS_PER_SEC;
        if (result != Result::ok) return result_name(result);
        if (seconds < 0.3) return "did not wait";
        return busy_seconds < seconds / 2 ? "" : "kept its core for " + std::to_string(busy_seconds) + " s";
      });
  EXPECT_EQ(outcome, "");
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
