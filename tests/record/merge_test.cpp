#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>

#include "random_record.h"
#include "record/report.h"

namespace millrace::record {
namespace {

// Everything below is computed in the plainest way there is, name by name and rank by rank.
const CallRecord* find(const RankRecord& record, const std::string& name) {
  for (const CallRecord& call : record.calls)
    if (call.name == name) return &call;
  return nullptr;
}

std::uint64_t time_of(const RankRecord& record, const std::string& name) {
  const CallRecord* call = find(record, name);
  return call ? call->time_ns : 0;
}

std::vector<std::uint64_t> sorted_times(const std::vector<RankRecord>& records, const std::string& name) {
  std::vector<std::uint64_t> times;
  for (const RankRecord& record : records) times.push_back(time_of(record, name));
  std::sort(times.begin(), times.end());
  return times;
}

void expect_times(const CallReport& call, const std::vector<RankRecord>& records) {
  const std::vector<std::uint64_t> times = sorted_times(records, call.sum.name);
  const std::size_t half = times.size() / 2;
  EXPECT_EQ(call.time_ns.min, static_cast<double>(times.front()));
  EXPECT_EQ(call.time_ns.max, static_cast<double>(times.back()));
  const double median = times.size() % 2
                            ? static_cast<double>(times[half])
                            : 0.5 * (static_cast<double>(times[half - 1]) + static_cast<double>(times[half]));
  EXPECT_EQ(call.time_ns.median, median);
  for (const RankRecord& record : records) {
    if (record.identity.rank == call.time_ns.max_rank) {
      EXPECT_EQ(time_of(record, call.sum.name), times.back());
    }
    if (record.identity.rank < call.time_ns.max_rank) {
      EXPECT_LT(time_of(record, call.sum.name), times.back());
    }
  }
}

void expect_sums(const CallReport& call, const std::vector<RankRecord>& records) {
  CallRecord sum;
  std::map<std::uint64_t, SizeRecord> sizes;
  std::uint64_t ranks = 0, algorithm_calls = 0;
  for (const RankRecord& record : records) {
    const CallRecord* own = find(record, call.sum.name);
    if (!own) continue;
    ++ranks;
    sum.bytes += own->bytes;
    sum.time_ns += own->time_ns;
    for (const SizeRecord& size : own->sizes) {
      SizeRecord& same = sizes[size.least_bytes];
      same = {size.least_bytes, same.calls + size.calls, same.taken + size.taken, same.bytes + size.bytes,
              same.time_ns + size.time_ns};
    }
    for (std::size_t reason = 0; reason < reason_count; ++reason) sum.outcome[reason] += own->outcome[reason];
    sum.saved.calls += own->saved.calls;
    sum.saved.time_ns += own->saved.time_ns;
    sum.saved.error_ns += own->saved.error_ns;
    for (const AlgorithmRecord& algorithm : own->algorithms)
      if (algorithm.name == "kernel_2") algorithm_calls += algorithm.calls;
  }
  EXPECT_EQ(call.ranks, ranks);
  EXPECT_EQ(call.sum.bytes, sum.bytes);
  EXPECT_EQ(call.sum.time_ns, sum.time_ns);
  EXPECT_EQ(call.sum.outcome, sum.outcome);
  for (const auto& [least_bytes, size] : sizes) sum.sizes.push_back(size);
  EXPECT_TRUE(call.sum.sizes == sum.sizes);
  EXPECT_EQ(call.sum.saved.calls, sum.saved.calls);
  EXPECT_EQ(call.sum.saved.time_ns, sum.saved.time_ns);
  EXPECT_EQ(call.sum.saved.error_ns, sum.saved.error_ns);
  std::uint64_t merged = 0;
  for (const AlgorithmRecord& algorithm : call.sum.algorithms)
    if (algorithm.name == "kernel_2") merged += algorithm.calls;
  EXPECT_EQ(merged, algorithm_calls);
}

TEST(Merge, ErrorsOfDifferentCallsAreIndependent) {
  std::vector<CallReport> calls(2);
  calls[0].sum.saved = {10, 100, 3};
  calls[1].sum.saved = {20, -40, 4};
  const SavedTime all = saved_by(calls);
  EXPECT_EQ(all.calls, 30u);
  EXPECT_EQ(all.time_ns, 60);
  EXPECT_EQ(all.error_ns, 5);
}

TEST(Merge, AddsUpWhoWaitedForWhom) {
  std::vector<RankRecord> records(3);
  for (std::int32_t rank = 0; rank < 3; ++rank) records[static_cast<std::size_t>(rank)].identity.rank = rank;
  records[0].waits.calls = {{"MPI_Barrier", "MPI_COMM_WORLD", 10, 900, 500, {{1, 0, 100}, {2, 0, 400}}},
                            {"MPI_Bcast", "MPI_COMM_WORLD", 5, 90, 50, {{1, 0, 50}}}};
  records[1].waits.calls = {{"MPI_Barrier", "MPI_COMM_WORLD", 10, 700, 300, {{1, 2, 0}, {2, 0, 300}}}};
  records[2].waits.calls = {{"MPI_Barrier", "ranks 0-2", 10, 60, 1, {{0, 0, 1}, {2, 8, 0}}}};
  for (RankRecord& record : records) record.waits.for_rank = by_rank(record.waits.calls);
  const Report report = merge(records);
  ASSERT_EQ(report.late.size(), 3u);
  const auto expect = [](const LateReport& late, std::int32_t rank, std::uint64_t calls, std::uint64_t caused_ns,
                         std::uint64_t wait_ns) {
    EXPECT_EQ(late.rank, rank);
    EXPECT_EQ(late.calls, calls);
    EXPECT_EQ(late.caused_ns, caused_ns);
    EXPECT_EQ(late.wait_ns, wait_ns);
  };
  expect(report.late[0], 2, 8, 700, 1);
  expect(report.late[1], 1, 2, 150, 300);
  expect(report.late[2], 0, 0, 1, 550);
  ASSERT_EQ(report.waits.size(), 3u);
  EXPECT_EQ(report.waits[0].sum.call, "MPI_Barrier");
  EXPECT_EQ(report.waits[0].sum.communicator, "MPI_COMM_WORLD");
  EXPECT_EQ(report.waits[0].sum.compared, 10u);
  EXPECT_EQ(report.waits[0].sum.time_ns, 1600u);
  EXPECT_EQ(report.waits[0].sum.wait_ns, 800u);
  EXPECT_EQ(report.waits[0].by_rank.front().rank, 2);
  EXPECT_EQ(report.waits[0].by_rank.front().caused_ns, 700u);
}

TEST(Merge, KeepsWhoCostMostAndWhoCameLastMostOften) {
  std::vector<LateRank> ranks;
  for (std::int32_t rank = 0; rank < 512; ++rank) ranks.push_back({rank, 0, static_cast<std::uint64_t>(rank)});
  ranks[3].calls = 70;
  keep_foremost(ranks);
  EXPECT_EQ(ranks.size(), 16u);
  EXPECT_EQ(ranks.front().rank, 511);
  EXPECT_EQ(std::ranges::count(ranks, 3, &LateRank::rank), 1);
}

TEST(Merge, AgreesWithThePlainComputation) {
  const std::uint64_t seed = std::random_device{}();
  SCOPED_TRACE("seed " + std::to_string(seed));
  RandomRecord random(seed);
  for (std::int32_t ranks : {1, 2, 3, 8, 33}) {
    std::vector<RankRecord> records;
    for (std::int32_t rank = 0; rank < ranks; ++rank) records.push_back(random(rank, ranks, 1u << 20));
    std::shuffle(records.begin(), records.end(), std::mt19937_64(seed));
    const Report report = merge(records);
    EXPECT_EQ(report.ranks, ranks);
    ASSERT_EQ(report.by_rank.size(), records.size());
    for (std::int32_t rank = 0; rank < ranks; ++rank)
      EXPECT_EQ(report.by_rank[static_cast<std::size_t>(rank)].identity.rank, rank);
    for (const CallReport& call : report.calls) {
      expect_times(call, records);
      expect_sums(call, records);
    }
    EXPECT_TRUE(std::is_sorted(report.calls.begin(), report.calls.end(), [](const auto& left, const auto& right) {
      return left.sum.time_ns > right.sum.time_ns;
    }));
  }
}

RankRecord simple(std::int32_t rank, std::int32_t ranks) {
  RankRecord record;
  record.identity = {rank, ranks, "node0", 100 + rank, "avx2", "Open MPI v5", "openmpi", {{"MILLRACE_ISA", "auto"}},
                     0,    {}};
  record.identity.wall_ns = 1000;
  record.threads = 1;
  return record;
}

CallRecord timed(std::string name, std::uint64_t time_ns) {
  CallRecord call;
  call.name = std::move(name);
  call.time_ns = time_ns;
  call.outcome[1] = 1;
  return call;
}

TEST(Merge, LeavesInitialisationOutOfTheShareOfTheWallTime) {
  RankRecord record = simple(0, 1);
  record.calls = {timed("MPI_Init", 5000), timed("MPI_Barrier", 250)};
  const Report report = merge({&record, 1});
  EXPECT_EQ(report.by_rank[0].time_ns, 250u);
  EXPECT_EQ(report.mpi_share.max, 0.25);
}

TEST(Merge, OfNothingIsEmpty) {
  const Report report = merge({});
  EXPECT_TRUE(report.by_rank.empty());
  EXPECT_TRUE(report.calls.empty());
}

TEST(Merge, IsSilentWhenRanksAgree) {
  const std::vector<RankRecord> records{simple(0, 2), simple(1, 2)};
  EXPECT_TRUE(merge(records).notes.empty());
  EXPECT_EQ(merge(records).hosts, 1u);
}

TEST(Merge, NotesWhatRanksDoNotShare) {
  std::vector<RankRecord> records;
  for (std::int32_t rank = 0; rank < 20; ++rank) records.push_back(simple(rank, 22));
  records[3].identity.isa = "avx512";
  for (std::size_t rank = 0; rank < 20; rank += 2) records[rank].identity.variant = "mpich";
  records[5].identity.settings[0].second = "scalar";
  records[7].lost_calls = 12;
  const std::vector<std::string> expected{
      "ranks differ in preload: mpich (rank 0, 2, 4, 6 and 6 more); openmpi (rank 1, 3, 5, 7 and 6 more)",
      "ranks differ in kernels: avx2 (rank 0-2, 4-19); avx512 (rank 3)",
      "ranks differ in settings: MILLRACE_ISA=auto (rank 0-4, 6-19); MILLRACE_ISA=scalar (rank 5)",
      "2 of 22 ranks are missing from this report",
      "12 calls are not counted: no memory for their thread",
  };
  EXPECT_EQ(merge(records).notes, expected);
}

}  // namespace
}  // namespace millrace::record
