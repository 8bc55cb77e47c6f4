#include "record/peers.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <map>
#include <random>
#include <thread>

#include "random_record.h"
#include "record/peers_report.h"

namespace millrace::record {
namespace {

TEST(Peers, AreCountedByReceiver) {
  reset();
  add_message(3, 8);
  add_message(3, 0);
  add_message(0, 100);
  add_message(outside_world, 7);
  const Peers peers = peers_until_now();
  EXPECT_EQ(peers.to, (std::vector<PeerCount>{{0, 1, 100}, {3, 2, 8}}));
  EXPECT_EQ(peers.others, (PeerCount{outside_world, 1, 7}));
  reset();
  EXPECT_TRUE(peers_until_now() == Peers{});
}

// Ranks a multiple of a large power of two apart are what grids of processes have.
TEST(Peers, ManyAreKeptApartWhileTheTableGrows) {
  reset();
  std::map<std::int32_t, PeerCount> expected;
  std::mt19937_64 random(7);
  for (int message = 0; message < 20'000; ++message) {
    const auto rank = static_cast<std::int32_t>(random() % 1000) << (message % 2 == 0 ? 0 : 16);
    const std::uint64_t bytes = random() % 1000;
    add_message(rank, bytes);
    PeerCount& count = expected[rank];
    count = {rank, count.messages + 1, count.bytes + bytes};
  }
  const Peers peers = peers_until_now();
  ASSERT_EQ(peers.to.size(), expected.size());
  for (const PeerCount& count : peers.to) EXPECT_EQ(count, expected[count.rank]);
  EXPECT_EQ(peers.others.messages, 0u);
  reset();
}

TEST(Peers, BeyondTheMostGoToTheOthers) {
  reset();
  std::thread sender([] {  // with a table of its own
    for (std::int32_t rank = 0; rank < static_cast<std::int32_t>(most_peers) + 10; ++rank)
      for (int message = 0; message < 2; ++message) add_message(rank, 5);
  });
  sender.join();
  const Peers peers = peers_until_now();
  std::uint64_t messages = peers.others.messages, bytes = peers.others.bytes;
  for (const PeerCount& count : peers.to) {
    messages += count.messages;
    bytes += count.bytes;
  }
  EXPECT_GE(peers.others.messages, 20u);
  EXPECT_LE(peers.to.size(), most_peers);
  EXPECT_EQ(messages, 2 * (most_peers + 10));
  EXPECT_EQ(bytes, 10 * (most_peers + 10));
  reset();
}

TEST(Peers, OfSeveralThreadsAddUp) {
  reset();
  std::vector<std::thread> threads;
  for (int number = 0; number < 4; ++number)
    threads.emplace_back([number] {
      for (int message = 0; message < 1000; ++message) add_message(message % 2 == 0 ? 1 : 2 + number, 3);
    });
  for (std::thread& thread : threads) thread.join();
  const Peers peers = peers_until_now();
  ASSERT_EQ(peers.to.size(), 5u);
  EXPECT_EQ(peers.to[0], (PeerCount{1, 2000, 6000}));
  for (std::int32_t rank = 2; rank < 6; ++rank)
    EXPECT_EQ(peers.to[static_cast<std::size_t>(rank) - 1], (PeerCount{rank, 500, 1500}));
  reset();
}

TEST(Peers, OfAForkedChildStartClean) {
  reset();
  add_message(1, 1);
  const pid_t child = fork();
  if (child == 0) {
    add_message(2, 2);
    const Peers peers = peers_until_now();
    _exit(peers.to == std::vector<PeerCount>{{2, 1, 2}} ? 0 : 1);
  }
  int status = 0;
  waitpid(child, &status, 0);
  EXPECT_EQ(status, 0);
  reset();
}

TEST(Peers, TheForemostStayAndNothingIsLost) {
  Peers peers{{{0, 1, 5}, {1, 9, 50}, {2, 2, 5}, {4, 1, 40}}, {outside_world, 3, 1}};
  keep_foremost(peers, 3);
  EXPECT_EQ(peers.to, (std::vector<PeerCount>{{1, 9, 50}, {2, 2, 5}, {4, 1, 40}}));
  EXPECT_EQ(peers.others, (PeerCount{outside_world, 4, 6}));
}

RankRecord of_rank(std::int32_t rank, std::int32_t ranks, Peers peers) {
  RankRecord record;
  record.identity.rank = rank;
  record.identity.ranks = ranks;
  record.peers = std::move(peers);
  return record;
}

TEST(PeersReport, NamesTheForemostPairsAndAddsUpTheOthers) {
  const RankRecord records[] = {of_rank(0, 2, {{{0, 1, 4}, {1, 2, 80}}, {outside_world, 1, 3}}),
                                of_rank(1, 2, {{{0, 5, 100}}, {outside_world, 2, 4}})};
  const PeersReport report = merge_peers(records, 2);
  EXPECT_EQ(report.messages, 11u);
  EXPECT_EQ(report.bytes, 191u);
  EXPECT_EQ(report.other_messages, 3u);
  EXPECT_EQ(report.other_bytes, 7u);
  EXPECT_EQ(report.foremost, (std::vector<PeerPair>{{1, 0, 5, 100}, {0, 1, 2, 80}, {0, 0, 1, 4}}));
  EXPECT_EQ(report.block_ranks, 1);
  EXPECT_EQ(report.matrix, (std::vector<PeerPair>{{0, 0, 1, 4}, {0, 1, 2, 80}, {1, 0, 5, 100}}));
}

TEST(PeersReport, AMatrixIsBoundedAndLosesNothing) {
  for (const std::int32_t ranks : {1, 63, 64, 65, 512, 1000}) {
    std::vector<RankRecord> records;
    for (std::int32_t rank = 0; rank < ranks; ++rank) {
      Peers peers;
      for (std::int32_t to = 0; to < ranks; to += 3) peers.to.push_back({to, 1, 10});
      records.push_back(of_rank(rank, ranks, std::move(peers)));
    }
    const PeersReport report = merge_peers(records, ranks);
    EXPECT_EQ(report.block_ranks == 1, ranks <= most_peer_blocks);
    EXPECT_LE((ranks - 1) / report.block_ranks + 1, most_peer_blocks);
    std::uint64_t messages = 0;
    for (const PeerPair& pair : report.matrix) {
      EXPECT_EQ(pair.from % report.block_ranks, 0);
      EXPECT_EQ(pair.to % report.block_ranks, 0);
      messages += pair.messages;
      EXPECT_EQ(pair.bytes, 10 * pair.messages);
    }
    EXPECT_EQ(messages, report.messages);
    EXPECT_LE(report.foremost.size(), most_foremost_pairs);
  }
}

}  // namespace
}  // namespace millrace::record
