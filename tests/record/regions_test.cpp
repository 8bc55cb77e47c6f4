#include "record/regions.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <string>
#include <thread>

#include "record/rank_record.h"
#include "record/regions_report.h"

namespace millrace::record {
namespace {

void make_calls(int calls, std::uint64_t bytes) {
  for (int call = 0; call < calls; ++call) add_call(1, bytes, 10, no_algorithm, Reason::not_accelerated);
}

// Without times, which are the clock's.
struct Counted {
  std::string name;
  std::uint64_t entered, calls, bytes, time_ns;

  bool operator==(const Counted&) const = default;
};
void PrintTo(const Counted& region, std::ostream* out) {
  *out << region.name << " " << region.entered << " " << region.calls << " " << region.bytes << " " << region.time_ns;
}

std::vector<Counted> counted(const Regions& regions) {
  std::vector<Counted> all;
  for (const RegionRecord& region : regions.all)
    all.push_back({region.name, region.entered, region.calls, region.bytes, region.time_ns});
  return all;
}

class RegionsTest : public testing::Test {
 protected:
  void SetUp() override { reset(); }
  void TearDown() override { reset(); }
};

TEST_F(RegionsTest, AreOfWhatHappensBetweenBeginAndEnd) {
  make_calls(3, 8);
  begin_region("solve");
  make_calls(2, 100);
  end_region("solve");
  make_calls(1, 8);
  begin_region("solve");
  make_calls(1, 50);
  end_region("solve");
  make_calls(5, 8);
  const Regions regions = regions_until_now(0.5);
  EXPECT_EQ(counted(regions), (std::vector<Counted>{{"solve", 2, 3, 250, 15}}));
  EXPECT_EQ(regions.unbalanced, 0u);
  EXPECT_GT(regions.all[0].wall_ns, 0u);
}

TEST_F(RegionsTest, InsideOthersCountForBothAndInsideThemselvesOnce) {
  begin_region("step");
  make_calls(1, 1);
  begin_region("solve");
  make_calls(2, 1);
  begin_region("step");
  make_calls(4, 1);
  end_region("step");
  end_region("solve");
  make_calls(8, 1);
  end_region("step");
  const Regions regions = regions_until_now(1);
  EXPECT_EQ(counted(regions), (std::vector<Counted>{{"step", 2, 15, 15, 150}, {"solve", 1, 6, 6, 60}}));
  EXPECT_EQ(regions.unbalanced, 0u);
  EXPECT_GE(regions.all[0].wall_ns, regions.all[1].wall_ns);
}

TEST_F(RegionsTest, ThatAreOpenCountUntilNow) {
  begin_region("a");
  make_calls(1, 1);
  const auto once = counted(regions_until_now(1));
  EXPECT_EQ(once, (std::vector<Counted>{{"a", 1, 1, 1, 10}}));
  make_calls(1, 1);
  EXPECT_EQ(counted(regions_until_now(1)), (std::vector<Counted>{{"a", 1, 2, 2, 20}})) << "what was read stays";
}

TEST_F(RegionsTest, ThatDoNotMatchAreSaid) {
  end_region("never begun");
  begin_region("outer");
  begin_region("left open");
  make_calls(1, 1);
  end_region("outer");
  make_calls(1, 1);
  note_nameless_region();
  const Regions regions = regions_until_now(1);
  EXPECT_EQ(counted(regions), (std::vector<Counted>{{"outer", 1, 1, 1, 10}, {"left open", 1, 1, 1, 10}}));
  EXPECT_EQ(regions.unbalanced, 3u);
}

TEST_F(RegionsTest, ChangeFromOneToTheNext) {
  for (const char* const name : {"a", "b", "a"}) {
    change_region(name);
    make_calls(2, 1);
  }
  end_region("a");
  make_calls(1, 1);
  const Regions regions = regions_until_now(1);
  EXPECT_EQ(counted(regions), (std::vector<Counted>{{"a", 2, 4, 4, 40}, {"b", 1, 2, 2, 20}}));
  EXPECT_EQ(regions.unbalanced, 0u);
}

TEST_F(RegionsTest, AreNoMoreThanThereIsRoomFor) {
  for (std::size_t index = 0; index < most_regions + 10; ++index) {
    const std::string name = "region " + std::to_string(index);
    begin_region(name);
    make_calls(1, 1);
    end_region(name);
  }
  const Regions regions = regions_until_now(1);
  ASSERT_EQ(regions.all.size(), most_regions + 1);
  EXPECT_EQ(counted(regions).back(), (Counted{std::string(other_regions), 10, 10, 10, 100}));
  EXPECT_EQ(regions.unbalanced, 0u);
}

TEST_F(RegionsTest, AreNoDeeperThanThereIsRoomFor) {
  for (std::size_t depth = 0; depth < deepest_region + 5; ++depth) begin_region(std::to_string(depth));
  make_calls(1, 1);
  for (std::size_t depth = deepest_region + 5; depth-- > 0;) end_region(std::to_string(depth));
  make_calls(1, 1);
  const Regions regions = regions_until_now(1);
  EXPECT_EQ(regions.all.size(), deepest_region);
  for (const RegionRecord& region : regions.all) EXPECT_EQ(region.calls, 1u);
  EXPECT_EQ(regions.unbalanced, 10u) << "five begun too deep, and five ended";
}

TEST_F(RegionsTest, HaveNamesThatAreCut) {
  const std::string longer(longest_region_name + 5, 'x');
  begin_region(longer);
  end_region(longer);
  const Regions regions = regions_until_now(1);
  ASSERT_EQ(regions.all.size(), 1u);
  EXPECT_EQ(regions.all[0].name, longer.substr(0, longest_region_name));
  EXPECT_EQ(regions.unbalanced, 0u);
}

TEST_F(RegionsTest, HaveTheCallsOfAllThreads) {
  begin_region("all");
  std::thread other([] { make_calls(1000, 2); });
  make_calls(500, 2);
  other.join();
  end_region("all");
  EXPECT_EQ(counted(regions_until_now(1)), (std::vector<Counted>{{"all", 1, 1500, 3000, 15000}}));
}

TEST_F(RegionsTest, OfManyThreadsAtOnceEndWell) {
  std::vector<std::thread> threads;
  for (int thread = 0; thread < 4; ++thread)
    threads.emplace_back([thread] {
      const std::string name(1, static_cast<char>('a' + thread));
      for (int turn = 0; turn < 2000; ++turn) {
        begin_region(name);
        make_calls(1, 1);
        end_region(name);
        if (turn % 100 == 0) (void)regions_until_now(1);
      }
    });
  for (std::thread& thread : threads) thread.join();
  std::uint64_t entered = 0;
  const Regions regions = regions_until_now(1);
  for (const RegionRecord& region : regions.all) entered += region.entered;
  EXPECT_LE(entered, 8000u);
  EXPECT_GE(entered, 2000u);
}

TEST_F(RegionsTest, AreForgottenInAChild) {
  begin_region("parent");
  make_calls(1, 1);
  const pid_t child = fork();
  if (child == 0) {
    bool right = regions_until_now(1) == Regions{};
    begin_region("child");
    make_calls(1, 5);
    end_region("child");
    right = right && counted(regions_until_now(1)) == std::vector<Counted>{{"child", 1, 1, 5, 10}};
    _exit(right ? 0 : 1);
  }
  int status = -1;
  waitpid(child, &status, 0);
  EXPECT_EQ(status, 0);
}

RankRecord of_rank(std::int32_t rank, std::vector<RegionRecord> regions, std::uint64_t unbalanced = 0) {
  RankRecord record;
  record.identity.rank = rank;
  record.regions = {std::move(regions), unbalanced};
  return record;
}

TEST(MergedRegions, AreThoseOfAllRanksByTheirNames) {
  const RankRecord records[] = {of_rank(2, {{"a", 1, 2, 3, 4, 50}, {"b", 1, 1, 1, 1, 500}}, 1),
                                of_rank(0, {{"a", 10, 20, 30, 40, 50}}), of_rank(1, {{"a", 1, 1, 1, 1, 9}}, 2)};
  const RegionsReport report = merge_regions(records);
  ASSERT_EQ(report.all.size(), 2u);
  EXPECT_EQ(report.all[0], (RegionReport{{"b", 1, 1, 1, 1, 500}, 1, 500, 2}));
  EXPECT_EQ(report.all[1], (RegionReport{{"a", 12, 23, 34, 45, 109}, 3, 50, 0}));
  EXPECT_EQ(report.unbalanced, 3u);
}

TEST(MergedRegions, AreBoundedAlsoWhereEachRankHasItsOwn) {
  std::vector<RankRecord> records;
  for (std::int32_t rank = 0; rank < 10; ++rank) {
    std::vector<RegionRecord> regions;
    for (std::uint64_t index = 0; index < 10; ++index)
      regions.push_back({std::to_string(rank) + "." + std::to_string(index), 1, 1, 1, 1, 1 + index});
    regions.push_back({std::string(other_regions), 1, 1, 1, 1, 7});
    records.push_back(of_rank(rank, std::move(regions)));
  }
  const RegionsReport report = merge_regions(records);
  ASSERT_EQ(report.all.size(), most_regions + 1);
  EXPECT_EQ(report.all.back().sum.name, other_regions);
  std::uint64_t entered = 0, wall_ns = 0;
  for (const RegionReport& region : report.all) {
    entered += region.sum.entered;
    wall_ns += region.sum.wall_ns;
  }
  EXPECT_EQ(entered, 110u);
  EXPECT_EQ(wall_ns, 10u * (55 + 7));
}

}  // namespace
}  // namespace millrace::record
