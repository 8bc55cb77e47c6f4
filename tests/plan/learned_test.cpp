// What was learned: runs add up, a verdict needs evidence, and only what was learned in the same place holds.
#include "plan/learned.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "plan/tuning.h"

namespace millrace::plan {
namespace {

using collective::Kind;

const LearnedPlace here{"a machine", "Open MPI v4.1.4, 4 ranks"};

LearnedRatio ratio_of(std::initializer_list<double> ours_over_host) {
  LearnedRatio ratio;
  for (const double one : ours_over_host) ratio.add(std::log(one));
  return ratio;
}

LearnedRows rows_of(const LearnedCall& call, std::initializer_list<double> ours_over_host) {
  LearnedRows rows;
  merge_learned(rows, {{call, {ratio_of(ours_over_host), {}}}});
  return rows;
}

TEST(Learned, AVerdictNeedsEvidence) {
  EXPECT_EQ(ratio_of({}).verdict(), std::nullopt);
  EXPECT_EQ(ratio_of({2, 2}).verdict(), std::nullopt) << "too few";
  EXPECT_EQ(ratio_of({2, 2, 2}).verdict(), Side::host);
  EXPECT_EQ(ratio_of({0.5, 0.5, 0.5}).verdict(), Side::ours);
  EXPECT_EQ(ratio_of({1.03, 1.02, 1.03}).verdict(), std::nullopt) << "few trials are not that sure";
  EXPECT_EQ(ratio_of({0.5, 2, 0.6, 1.7, 1}).verdict(), std::nullopt) << "they speak for neither";
  EXPECT_EQ(ratio_of({0.8, 0.8, 0.8, 0.8, 0.8, 1000}).verdict(), std::nullopt) << "one that was hit";
  EXPECT_EQ(ratio_of({0.8, 0.8, 0.8, 0.8, 0.8, 0.8, 0.8, 0.8, 0.8, 0.8, 0.8, 0.8, 1.2}).verdict(), Side::ours);
}

TEST(Learned, RunsAddUp) {
  std::mt19937 random(13);
  std::normal_distribution<double> normal(0.1, 0.3);
  for (const std::uint32_t first : {0u, 1u, 2u, 30u}) {
    LearnedRatio all, one, other;
    for (std::uint32_t trial = 0; trial < 60; ++trial) {
      const double value = std::clamp(normal(random), -1.0, 1.0);
      all.add(value);
      (trial < first ? one : other).add(value);
    }
    one.merge(other);
    EXPECT_EQ(one.trials(), all.trials());
    EXPECT_NEAR(one.mean(), all.mean(), 1e-12);
    EXPECT_NEAR(one.deviation(), all.deviation(), 1e-12);
  }
}

TEST(Learned, WhatIsNewOutweighsWhatIsLongAgo) {
  LearnedRatio ratio;
  for (int trial = 0; trial < 100000; ++trial) ratio.add(std::log(2));
  EXPECT_EQ(ratio.verdict(), Side::host);
  for (int trial = 0; trial < 600; ++trial) ratio.add(std::log(0.5));
  EXPECT_EQ(ratio.verdict(), Side::ours);
  EXPECT_LE(ratio.trials(), 100u);
}

TEST(Learned, TheTableKeepsIt) {
  const LearnedCall allreduce{Kind::allreduce, 2, 4096, 4, true}, bcast{Kind::bcast, 3, -1, 2, false};
  LearnedRows rows = rows_of(allreduce, {1.3, 1.31, 1.3});
  rows.merge(rows_of(bcast, {0.9, 1.2}));
  const std::optional<std::string> text = with_learned(R"({"millrace_tuning": 1, "copies": {"gather_lists": true},
    "of somebody": [1, 2]})",
                                                       here, rows);
  ASSERT_TRUE(text);
  EXPECT_NE(text->find("of somebody"), std::string::npos) << "what is not understood stays";
  const Tuning tuning = parse_tuning(*text, "t");
  ASSERT_EQ(tuning.complaints.size(), 1u) << "of somebody";
  EXPECT_TRUE(tuning.copies.gather_lists);
  ASSERT_TRUE(tuning.learned.contains(here));
  const LearnedRows& read = tuning.learned.at(here);
  ASSERT_EQ(read.size(), 2u);
  EXPECT_EQ(read.at(allreduce).done_by, Side::host);
  EXPECT_EQ(read.at(allreduce).ratio.trials(), 3u);
  EXPECT_NEAR(read.at(allreduce).ratio.mean(), rows.at(allreduce).ratio.mean(), 1e-4);
  EXPECT_EQ(read.at(bcast).done_by, std::nullopt);
  // Once more, and by `millrace tune`, which knows nothing of it.
  const std::optional<std::string> twice = with_learned(tuning_text(parse_tuning(*text, "t"), "m"), here, rows);
  ASSERT_TRUE(twice);
  EXPECT_EQ(parse_tuning(*twice, "t").learned.at(here).at(allreduce).ratio.trials(), 6u);
  EXPECT_EQ(parse_tuning(*twice, "t").learned.at(here).at(bcast).ratio.trials(), 4u);
}

TEST(Learned, WhatIsNoTableIsNotOverwritten) {
  const LearnedRows rows = rows_of({Kind::bcast, 0, -1, 2, false}, {1, 1});
  EXPECT_TRUE(with_learned("", here, rows));
  const std::string whole = *with_learned("", here, rows);
  for (const std::string& text : {std::string("a letter"), std::string("[1]"), std::string(R"({"millrace_tuning": 2})"),
                                  whole.substr(0, whole.size() / 2)})
    EXPECT_FALSE(with_learned(text, here, rows)) << text;
}

TEST(Learned, WhatIsWrongIsNamedAndIgnored) {
  const auto learned = [](const std::string& rows, const std::string& version = MILLRACE_VERSION) {
    return parse_tuning(R"({"millrace_tuning": 1, "learned": {"version": ")" + version +
                            R"(", "machines": {"a machine": {"Open MPI v4.1.4, 4 ranks": [)" + rows + "]}}}}",
                        "t");
  };
  const std::string good = R"({"call": "bcast", "flavor": 1, "ranks": 4, "crowded": false, "trials": 3,
                               "ours_over_host": 1.5, "spread": 1.1, "done_by": "host"})";
  EXPECT_TRUE(learned(good).complaints.empty());
  EXPECT_EQ(learned(good).learned.at(here).size(), 1u);
  const std::pair<const char*, const char*> mistakes[] = {
      {"\"bcast\"", "\"cast\""},
      {"\"flavor\": 1", "\"flavor\": 256"},
      {"\"ranks\": 4", "\"ranks\": 0"},
      {"\"crowded\": false", "\"crowded\": 1"},
      {"\"trials\": 3", "\"trials\": -1"},
      {"1.5", "\"much\""},
      {"1.5", "-1"},
      {"1.1", "0.5"},
      {"\"host\"", "\"nobody\""},
      {"\"flavor\"", "\"from_bytes\": -5, \"flavor\""},
      {"\"flavor\"", "\"from_bytes\": 1e300, \"flavor\""},
  };
  for (const auto& [right, wrong] : mistakes) {
    std::string bad = good;
    bad.replace(bad.find(right), std::string_view(right).size(), wrong);
    const Tuning tuning = learned(bad + "," + good);
    ASSERT_EQ(tuning.complaints.size(), 1u) << bad;
    EXPECT_EQ(tuning.complaints[0], "t: 1 rows of 'learned' are wrong: ignored");
    EXPECT_EQ(tuning.learned.at(here).size(), 1u);
  }
  const Tuning old = learned(good, "0.0.1");
  ASSERT_EQ(old.complaints.size(), 1u);
  EXPECT_NE(old.complaints[0].find("another version"), std::string::npos);
  EXPECT_TRUE(old.learned.empty());
  for (const char* text :
       {R"({"millrace_tuning": 1, "learned": {"version": ")" MILLRACE_VERSION R"(", "machines": 7}})",
        R"({"millrace_tuning": 1, "learned": {"version": ")" MILLRACE_VERSION R"(", "machines": {"m": 7}}})",
        R"({"millrace_tuning": 1, "learned": {"version": ")" MILLRACE_VERSION R"(", "machines": {"m": {"h": 7}}}})",
        R"({"millrace_tuning": 1, "learned": {}})", R"({"millrace_tuning": 1, "learned": 7})"}) {
    const Tuning tuning = parse_tuning(text, "t");
    EXPECT_EQ(tuning.complaints.size(), 1u) << text;
    EXPECT_TRUE(tuning.learned.empty());
  }
}

TEST(Learned, HoldsForItsClassAlone) {
  LearnedRows rows = rows_of({Kind::allreduce, 2, 4096, 4, true}, {2, 2, 2});
  rows.merge(rows_of({Kind::bcast, 1, -1, 4, true}, {0.5, 0.5, 0.5}));
  rows.merge(rows_of({Kind::gather, 0, -1, 4, true}, {1, 1, 1}));
  const LearnedSides sides(rows);
  EXPECT_EQ(sides.size(), 2u);
  const EitherCall call{.kind = Kind::allreduce, .flavor = 2, .bytes = 4096};
  const auto with_bytes = [&call](std::int64_t bytes) {
    EitherCall other = call;
    other.bytes = bytes;
    return other;
  };
  EXPECT_EQ(sides.find(call, 4, true), Side::host);
  EXPECT_EQ(sides.find(with_bytes(5119), 4, true), Side::host);
  EXPECT_EQ(sides.find(with_bytes(5120), 4, true), std::nullopt);
  EXPECT_EQ(sides.find(with_bytes(4095), 4, true), std::nullopt);
  EXPECT_EQ(sides.find(with_bytes(-1), 4, true), std::nullopt);
  EXPECT_EQ(sides.find(call, 3, true), std::nullopt);
  EXPECT_EQ(sides.find(call, 4, false), std::nullopt);
  EXPECT_EQ(sides.find({.kind = Kind::allreduce, .flavor = 1, .bytes = 4096}, 4, true), std::nullopt);
  EXPECT_EQ(sides.find({.kind = Kind::reduce, .flavor = 2, .bytes = 4096}, 4, true), std::nullopt);
  // A rank may expect more of MPI_Bcast than is sent.
  for (const std::int64_t bytes : {1, 100, 1 << 20})
    EXPECT_EQ(sides.find({.kind = Kind::bcast, .flavor = 1, .bytes = bytes}, 4, true), Side::ours);
  EXPECT_EQ(sides.find({.kind = Kind::gather, .flavor = 0}, 4, true), std::nullopt) << "open";
  EXPECT_TRUE(LearnedSides{}.empty());
}

TEST(Learned, NamesOfHosts) {
  EXPECT_EQ(host_key("Open MPI v4.1.4, package: Debian OpenMPI, ident: 4.1.4", 2), "Open MPI v4.1.4, 2 ranks");
  EXPECT_EQ(host_key("MPICH Version:\t4.0.2\nMPICH Release date:", 64), "MPICH Version: 4.0.2, 64 ranks");
}

TEST(Learned, EverySizeHasAClassThatHoldsIt) {
  for (std::int64_t bytes = 0; bytes < 5000; ++bytes) {
    const std::uint32_t size = size_class(bytes);
    EXPECT_LE(least_bytes(size), bytes);
    EXPECT_GE(most_bytes(size), bytes);
    if (bytes > 0) {
      EXPECT_EQ(size_class(bytes - 1) == size, least_bytes(size) < bytes);
    }
  }
  EXPECT_EQ(least_bytes(size_class(-1)), -1);
  EXPECT_EQ(most_bytes(size_class(-1)), -1);
}

}  // namespace
}  // namespace millrace::plan
