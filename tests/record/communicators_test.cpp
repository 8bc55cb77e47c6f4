#include "record/communicators.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <string>
#include <thread>
#include <vector>

#include "record/communicators_report.h"
#include "record/rank_record.h"
#include "record/record.h"

namespace millrace::record {
namespace {

TEST(Communicators, WithTheSameNameAndRanksAreOne) {
  reset();
  const std::uint16_t world = communicator_number({"world", "0-3", 11, 4});
  const std::uint16_t rows = communicator_number({"", "0-1", 12, 2});
  EXPECT_NE(world, rows);
  EXPECT_EQ(communicator_number({"", "0-1", 12, 2}), rows);
  EXPECT_NE(communicator_number({"rows", "0-1", 12, 2}), rows);
  EXPECT_NE(communicator_number({"", "0-1", 13, 2}), rows) << "the same text, but others behind it";
  add_communicator_call(world, 100, 10, true);
  add_communicator_call(world, 50, 20, false);
  add_communicator_call(rows, 8, 4, true);
  EXPECT_EQ(communicators_until_now(0.5), (std::vector<CommunicatorRecord>{{"world", "0-3", 11, 4, 1, 2, 1, 150, 15},
                                                                           {"", "0-1", 12, 2, 2, 1, 1, 8, 2}}))
      << "those without calls are left out";
  reset();
  EXPECT_TRUE(communicators_until_now(1).empty());
}

TEST(Communicators, ThatComeLateAreOthers) {
  reset();
  for (std::size_t index = 0; index < most_communicators + 10; ++index)
    add_communicator_call(communicator_number({"", std::to_string(index), index, 1 + index}), 1, 1, false);
  const std::vector<CommunicatorRecord> all = communicators_until_now(1);
  ASSERT_EQ(all.size(), most_communicators + 1);
  EXPECT_EQ(all.back(), (CommunicatorRecord{std::string(other_communicators), "", 0, 0, 10, 10, 0, 10, 10}));
  EXPECT_EQ(all[most_communicators - 1].calls, 1u);
  reset();
}

TEST(Communicators, OfLongNamesAreCut) {
  reset();
  const std::string longer(longest_communicator_text + 20, 'n');
  const std::uint16_t number = communicator_number({longer, longer, 1, 1});
  EXPECT_EQ(communicator_number({longer, longer, 1, 1}), number);
  add_communicator_call(number, 0, 0, false);
  const std::vector<CommunicatorRecord> all = communicators_until_now(1);
  ASSERT_EQ(all.size(), 1u);
  EXPECT_EQ(all[0].name, longer.substr(0, longest_communicator_text));
  EXPECT_EQ(all[0].ranks, longer.substr(0, longest_communicator_text));
  reset();
}

TEST(Communicators, OfAllThreadsAreAddedUp) {
  reset();
  std::vector<std::thread> threads;
  for (int thread = 0; thread < 4; ++thread)
    threads.emplace_back([] {
      for (std::uint64_t turn = 0; turn < 500; ++turn) {
        const std::uint64_t members = turn % 5;
        add_communicator_call(communicator_number({"", "", members, 2}), 3, 2, turn % 2 == 0);
        if (turn % 100 == 0) (void)communicators_until_now(1);
      }
    });
  for (std::thread& thread : threads) thread.join();
  const std::vector<CommunicatorRecord> all = communicators_until_now(1);
  ASSERT_EQ(all.size(), 5u);
  for (const CommunicatorRecord& one : all) {
    EXPECT_EQ(one.calls, 400u);
    EXPECT_EQ(one.taken, 200u);
    EXPECT_EQ(one.bytes, 1200u);
    EXPECT_EQ(one.time_ns, 800u);
    EXPECT_EQ(one.made, 400u);
  }
  reset();
}

TEST(Communicators, OfAForkedChildCountAnew) {
  reset();
  const std::uint16_t number = communicator_number({"", "0-1", 1, 2});
  add_communicator_call(number, 1, 1, true);
  const pid_t child = fork();
  if (child == 0) {
    add_communicator_call(number, 5, 7, true);
    const std::vector<CommunicatorRecord> all = communicators_until_now(1);
    _exit(all == std::vector<CommunicatorRecord>{{"", "0-1", 1, 2, 1, 1, 1, 5, 7}} ? 0 : 1);
  }
  int status = 0;
  waitpid(child, &status, 0);
  EXPECT_EQ(status, 0);
  reset();
}

RankRecord of_rank(std::int32_t rank, std::vector<CommunicatorRecord> communicators) {
  RankRecord record;
  record.identity.rank = rank;
  record.communicators = std::move(communicators);
  return record;
}

TEST(Communicators, OfRanksAreMergedByNameAndMembers) {
  const std::vector<RankRecord> records{
      of_rank(0, {{"w", "0-2", 1, 3, 1, 10, 5, 100, 30}, {"", "0-1", 2, 2, 7, 1, 0, 8, 500}}),
      of_rank(1, {{"", "0-1", 2, 2, 9, 2, 1, 8, 500}, {"w", "0-2", 1, 3, 1, 10, 5, 100, 40}}),
      of_rank(2, {{"w", "0-2", 1, 3, 1, 10, 5, 100, 20}, {"", "0-1", 3, 2, 1, 1, 1, 1, 1}})};
  EXPECT_EQ(merge_communicators(records),
            (std::vector<CommunicatorReport>{{{"", "0-1", 2, 2, 9, 3, 1, 16, 1000}, 2, 500, 0},
                                             {{"w", "0-2", 1, 3, 1, 30, 15, 300, 90}, 3, 40, 1},
                                             {{"", "0-1", 3, 2, 1, 1, 1, 1, 1}, 1, 1, 2}}));
}

TEST(Communicators, TheLongestStayAndNothingIsLost) {
  std::vector<RankRecord> records;
  std::uint64_t calls = 0;
  for (std::int32_t rank = 0; rank < 3; ++rank) {
    std::vector<CommunicatorRecord> own;
    for (std::uint64_t index = 0; index < most_communicators; ++index)
      own.push_back({"", "", static_cast<std::uint64_t>(rank) * 1000 + index, 2, 1, 1, 1, 1, 1 + index});
    own.push_back({std::string(other_communicators), "", 0, 0, 5, 3, 0, 2, 7});
    calls += most_communicators + 3;
    records.push_back(of_rank(rank, std::move(own)));
  }
  const std::vector<CommunicatorReport> report = merge_communicators(records);
  ASSERT_EQ(report.size(), most_communicators + 1);
  EXPECT_EQ(report.back().sum.name, other_communicators);
  EXPECT_EQ(report.back().sum.size, 0u);
  std::uint64_t counted = 0;
  for (const CommunicatorReport& one : report) counted += one.sum.calls;
  EXPECT_EQ(counted, calls);
  EXPECT_EQ(report[0].sum.time_ns, most_communicators);
}

TEST(Communicators, AreNamedInWords) {
  const auto words = [](const char* name, const char* ranks) {
    CommunicatorRecord record;
    record.name = name;
    record.ranks = ranks;
    return in_words(record);
  };
  EXPECT_EQ(words("MPI_COMM_WORLD", "0-3"), "MPI_COMM_WORLD (ranks 0-3)");
  EXPECT_EQ(words("", "0, 2"), "ranks 0, 2");
  EXPECT_EQ(words("others", ""), "others");
  EXPECT_EQ(words("", ""), "without a name");
}

TEST(Communicators, AreNamedInFewColumns) {
  const auto words = [](const char* name, const char* ranks) {
    CommunicatorRecord record;
    record.name = name;
    record.ranks = ranks;
    return in_words(record, 24);
  };
  EXPECT_EQ(words("solver", "0-3"), "solver (ranks 0-3)");
  EXPECT_EQ(words("MPI_COMM_WORLD", "0-511"), "MPI_COMM_WORLD (0-511)");
  EXPECT_EQ(words("row of a very large grid", "22-43"), "row of a very .. (22-43)");
  EXPECT_EQ(words("row of a very large grid", "0,2,4,6,8,10,12"), "row of a v.. (0,2,4,6..)");
  EXPECT_EQ(words("cells", "0,2,4,6,8,10,12,14"), "cells (0,2,4,6,8,10,1..)");
  EXPECT_EQ(words("", "0,2,4,6,8,10,12,14,16"), "ranks 0,2,4,6,8,10,12,..");
  EXPECT_EQ(words("a name of more than columns", ""), "a name of more than co..");
}

}  // namespace
}  // namespace millrace::record
