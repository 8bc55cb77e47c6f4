#include <gtest/gtest.h>

#include <algorithm>
#include <sstream>

#include "random_record.h"
#include "record/report.h"

namespace millrace::record {
namespace {

CallRecord call(std::string name, std::uint64_t calls, std::uint64_t bytes, std::uint64_t time_ns) {
  CallRecord result;
  result.name = std::move(name);
  result.bytes = bytes;
  result.time_ns = time_ns;
  result.outcome[static_cast<std::size_t>(Reason::not_accelerated)] = calls;
  return result;
}

RankRecord rank_record(std::int32_t rank) {
  RankRecord record;
  record.identity = {rank,          3,  "node0",       1, "avx512", "Open MPI v5.0.11, package: x",
                     "openmpi-5.0", {}, 2'000'000'000, {}};
  const auto share = static_cast<std::uint64_t>(rank);
  record.calls.push_back(call("MPI_Allreduce", 100'000, 800'000, 200'000'000 + 150'000'000 * share));
  CallRecord reduce = call("MPI_Reduce_local", 3, 4096, 1'500'000);
  reduce.outcome[0] = 9000;
  reduce.outcome[static_cast<std::size_t>(Reason::type_not_covered)] = 250;
  reduce.saved = {8000, rank == 2 ? -1e5 : 1.25e6, 5e4};
  reduce.algorithms = {{"sum_f64", 8000, 0, 0}, {"max_f32", 900, 0, 0}};
  record.calls.push_back(std::move(reduce));
  if (rank == 2) record.calls.push_back(call("MPI_Comm_rank", 1, 0, 30));
  return record;
}

TEST(Table, NamesTheLateRank) {
  std::vector<RankRecord> records{rank_record(0), rank_record(1), rank_record(2)};
  records[0].waits.calls = {{"MPI_Allreduce", "MPI_COMM_WORLD", 900, 200'000'000, 150'000'000, {{2, 0, 150'000'000}}}};
  records[1].waits.calls = {
      {"MPI_Allreduce", "MPI_COMM_WORLD", 900, 100'000'000, 50'000'000, {{0, 0, 10'000'000}, {2, 0, 40'000'000}}}};
  records[2].waits.calls = {{"MPI_Allreduce", "MPI_COMM_WORLD", 900, 30'000'000, 0, {{2, 850, 0}}}};
  for (RankRecord& record : records) record.waits.for_rank = by_rank(record.waits.calls);
  const std::string text = to_table(merge(records));
  EXPECT_NE(text.find(R"(
waiting for the last rank       calls     wait transfer    latest   share  last in  on
MPI_Allreduce                     900   200 ms   130 ms    rank 2    95 %      850  MPI_COMM_WORLD
    waited for: rank 2 190 ms (last in 850 calls), rank 0 10.0 ms (last in 0 calls)
)"),
            std::string::npos)
      << text;
}

TEST(Table, HasItsShape) {
  const std::vector<RankRecord> records{rank_record(0), rank_record(1), rank_record(2)};
  const std::string expected = "millrace " MILLRACE_VERSION
                               R"(: 3 ranks on 1 host, Open MPI v5.0.11, package: x
preload openmpi-5.0, kernels avx512, wall time 2.00 s
inside MPI 18 % of the wall time (median over ranks), from 10 % to 25 % on rank 2

                                                   time   inside   a rank
call                            calls    bytes      min   median      max at rank  per call   taken
MPI_Allreduce                   300 k 2.29 MiB   200 ms   350 ms   500 ms       2   3.50 us       -
MPI_Reduce_local               27.8 k 12.0 KiB  1.50 ms  1.50 ms  1.50 ms       0    162 ns    97 %
    taken: sum_f64 24.0 k, max_f32 2700, other 300
    forwarded: not accelerated 9, datatype not covered 750
    saved: 2.40 ms (+- 150 us) in 24.0 k calls
MPI_Comm_rank                       1        0        0        0    30 ns       2     30 ns       -
total                           328 k 2.30 MiB   202 ms   352 ms   502 ms       2   3.22 us   8.2 %
saved 2.40 ms (+- 150 us) of the ranks' time in 24.0 k calls, as measured against the host
)";
  EXPECT_EQ(to_table(merge(records)), expected);
}

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  return lines;
}

TEST(Table, StaysReadableWithManyRanksCallsAndNotes) {
  RandomRecord random(5);
  std::vector<RankRecord> records;
  for (std::int32_t rank = 0; rank < 4096; ++rank) {
    records.push_back(random(rank, 4096, 1u << 20));
    for (int extra = 0; extra < 40; ++extra)
      records.back().calls.push_back(call("MPI_Neighbor_alltoallw_init_c_" + std::to_string(extra), 1, 1, 1));
  }
  const std::vector<std::string> lines = lines_of(to_table(merge(records)));
  // Head, notes, titles, rows, rest, total and savings; what was waited for.
  EXPECT_LE(lines.size(), 4 + 3 + 2 + 4 * 25 + 3 + 12);
  for (const std::string& line : lines) EXPECT_LE(line.size(), 100u) << line;
  const auto total = std::ranges::find_if(lines, [](const auto& line) { return line.starts_with("total "); });
  ASSERT_NE(total, lines.end());
  EXPECT_TRUE((total - 1)->starts_with("and 27 m")) << *(total - 1);
  EXPECT_EQ(std::ranges::count_if(lines, [](const auto& line) { return line.starts_with("    waited for: rank "); }),
            1);
}

TEST(Table, SpeaksOfOneRankInTheSingular) {
  RankRecord record = rank_record(0);
  record.identity.ranks = 1;
  const std::vector<std::string> lines = lines_of(to_table(merge({&record, 1})));
  EXPECT_NE(lines[0].find(": 1 rank on 1 host, "), std::string::npos) << lines[0];
  EXPECT_EQ(lines[2], "inside MPI 10 % of the wall time");
}

TEST(Table, CannotBeBrokenByNames) {
  RankRecord record = rank_record(0);
  record.identity.variant = "two\nlines \x1b[31m";
  const std::vector<std::string> lines = lines_of(to_table(merge({&record, 1})));
  EXPECT_EQ(lines[1].substr(0, 17), "preload two lines");
  EXPECT_EQ(lines[1].find('\x1b'), std::string::npos);
}

TEST(Table, OfNothingSaysSo) { EXPECT_EQ(to_table(merge({})), "millrace: nothing recorded\n"); }

}  // namespace
}  // namespace millrace::record
