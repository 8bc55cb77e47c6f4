// Tuning tables: what is written is read, what is wrong is named and changes nothing, what is absent changes nothing.
#include "plan/tuning.h"

#include <gtest/gtest.h>

#include <cstdio>
#include <filesystem>
#include <fstream>

namespace millrace::plan {
namespace {

constexpr auto mixed = static_cast<std::size_t>(LayoutClass::mixed);
const std::size_t openmpi_4 = hosts::index_of("Open MPI 4");

void expect_untuned(const Tuning& tuning) {
  const kernel::CopyTuning& standard = kernel::default_copy_tuning();
  EXPECT_FALSE(tuning.in_force);
  EXPECT_EQ(tuning.digest, 0u);
  EXPECT_EQ(tuning.copies.permute_from_bytes, standard.permute_from_bytes);
  EXPECT_EQ(tuning.collectives.bcast_chunk_bytes, collective::standard_selection().bcast_chunk_bytes);
  EXPECT_EQ(tuning.ranges(hosts::openmpi_4)[mixed].most_bytes, any_size);
}

TEST(Tuning, ReadsWhatItWrites) {
  Tuning tuning = parse_tuning(R"({"millrace_tuning": 1})", "t");
  tuning.copies.permute_from_bytes = 777;
  tuning.copies.stream_from_bytes = ~std::size_t{0};
  tuning.copies.masked_to_touched_bytes = 12345;
  tuning.copies.listed_to_bytes = 54321;
  tuning.copies.gather_lists = !tuning.copies.gather_lists;
  tuning.messages[openmpi_4][mixed] = MessageRange{};
  tuning.messages[openmpi_4][mixed + 1] = MessageRange{4096, any_size};
  tuning.collectives.pair_chunk_bytes = 4096;
  tuning.left_to_host[openmpi_4][static_cast<std::size_t>(collective::Kind::bcast)] = MessageRange{65536, any_size};
  tuning.left_to_host[openmpi_4][static_cast<std::size_t>(collective::Kind::gather)] = MessageRange{};
  const Tuning read = parse_tuning(tuning_text(tuning, "a machine"), "t");
  EXPECT_TRUE(read.in_force);
  EXPECT_TRUE(read.complaints.empty()) << read.complaints[0];
  EXPECT_EQ(read.copies.permute_from_bytes, 777u);
  EXPECT_EQ(read.copies.stream_from_bytes, ~std::size_t{0});
  EXPECT_EQ(read.copies.masked_to_touched_bytes, 12345u);
  EXPECT_EQ(read.copies.listed_to_bytes, 54321u);
  EXPECT_EQ(read.copies.gather_lists, tuning.copies.gather_lists);
  EXPECT_EQ(read.collectives.pair_chunk_bytes, 4096u);
  const MessageRanges ranges = read.ranges(hosts::openmpi_4);
  EXPECT_FALSE(ranges[mixed].holds(8192));
  EXPECT_TRUE(ranges[mixed + 1].holds(4096));
  EXPECT_FALSE(ranges[mixed + 1].holds(4095));
  const HostCollectives collectives = read.collectives_of(hosts::openmpi_4);
  EXPECT_EQ(host_does_by_table(collectives, collective::Kind::bcast, 65536), true);
  EXPECT_EQ(host_does_by_table(collectives, collective::Kind::bcast, 65535), false);
  EXPECT_EQ(host_does_by_table(collectives, collective::Kind::gather, 8), false);
  EXPECT_EQ(host_does_by_table(collectives, collective::Kind::gather, -1), false);
  EXPECT_EQ(host_does_by_table(collectives, collective::Kind::scatter, 8), std::nullopt);
  EXPECT_EQ(host_does_by_table(read.collectives_of(hosts::intel), collective::Kind::bcast, 65536), std::nullopt);
  EXPECT_TRUE(read.ranges(hosts::mpich_5)[mixed].holds(8192)) << "what the table leaves out is as without it";
}

TEST(Tuning, WhatIsWrongIsNamedAndIgnored) {
  const Tuning tuning = parse_tuning(R"({"millrace_tuning": 1, "colour": 1,
      "copies": {"permute_from_byte": 1, "gather_lists": 3, "permute_from_bytes": -5},
      "messages": {"Open MPI 9": {}, "Open MPI 4": {"mixed": [5, 1], "blocks_4": [1], "round": []}},
      "collectives": {"bcast_chunk_bytes": 1, "pair_chunk_bytes": "8KiB", "reduce_slices_ranks": 1,
      "reduce_chunk_bytes": 4100},
      "left_to_host": {"Open MPI 9": {}, "Open MPI 4": {"bcast": [0, 1], "gathering": [], "scatter": 3}}})",
                                     "t");
  EXPECT_TRUE(tuning.in_force);
  const char* const names[] = {"colour",
                               "copies.permute_from_byte'",
                               "copies.gather_lists",
                               "copies.permute_from_bytes'",
                               "messages.Open MPI 9",
                               "messages.Open MPI 4.mixed",
                               "messages.Open MPI 4.blocks_4",
                               "messages.Open MPI 4.round",
                               "collectives.bcast_chunk_bytes",
                               "collectives.pair_chunk_bytes",
                               "collectives.reduce_slices_ranks",
                               "collectives.reduce_chunk_bytes",
                               "left_to_host.Open MPI 9",
                               "left_to_host.Open MPI 4.bcast",
                               "left_to_host.Open MPI 4.gathering",
                               "left_to_host.Open MPI 4.scatter"};
  ASSERT_EQ(tuning.complaints.size(), std::size(names));
  for (std::size_t i = 0; i < std::size(names); ++i)
    EXPECT_NE(tuning.complaints[i].find(names[i]), std::string::npos) << tuning.complaints[i];
  EXPECT_EQ(tuning.copies.permute_from_bytes, kernel::default_copy_tuning().permute_from_bytes);
  EXPECT_TRUE(tuning.ranges(hosts::openmpi_4)[mixed].holds(8192));
  EXPECT_EQ(tuning.collectives.bcast_chunk_bytes, collective::standard_selection().bcast_chunk_bytes);
}

TEST(Tuning, NoTableOfThisVersionChangesNothing) {
  for (const char* text : {"", "{", "[]", "3", "{}", R"({"millrace_tuning": 2, "copies": {"permute_from_bytes": 1}})",
                           R"({"millrace_tuning": "1"})", "\xff\xfe"}) {
    const Tuning tuning = parse_tuning(text, "t");
    expect_untuned(tuning);
    EXPECT_EQ(tuning.complaints.size(), 1u) << text;
  }
}

TEST(Tuning, DigestsTellTablesApart) {
  const Tuning one = parse_tuning(R"({"millrace_tuning": 1})", "a"),
               same = parse_tuning(R"({"millrace_tuning": 1})", "b"),
               other = parse_tuning(R"({"millrace_tuning": 1, "copies": {"permute_from_bytes": 1}})", "a");
  EXPECT_EQ(one.digest, same.digest);
  EXPECT_NE(one.digest, other.digest);
  EXPECT_NE(one.digest, 0u);
}

TEST(Tuning, IsFoundWhereTheEnvironmentSays) {
  const std::filesystem::path home = testing::TempDir() + "millrace_tuning_test";
  std::filesystem::create_directories(home / "millrace");
  const std::filesystem::path table = home / "millrace" / "tuning.json";
  std::ofstream(table) << R"({"millrace_tuning": 1, "copies": {"permute_from_bytes": 99}})";
  const std::string config = "XDG_CONFIG_HOME=" + home.string(), named = "MILLRACE_TUNING=" + table.string();
  const char* const by_place[] = {config.c_str(), nullptr};
  const char* const by_name[] = {named.c_str(), nullptr};
  const char* const none[] = {config.c_str(), "MILLRACE_TUNING=none", nullptr};
  const char* const empty[] = {nullptr};
  const char* const missing[] = {"MILLRACE_TUNING=/no/such/table", nullptr};
  EXPECT_EQ(read_tuning(by_place).copies.permute_from_bytes, 99u);
  EXPECT_EQ(read_tuning(by_name).copies.permute_from_bytes, 99u);
  expect_untuned(read_tuning(none));
  expect_untuned(read_tuning(empty));
  EXPECT_TRUE(read_tuning(empty).complaints.empty());
  expect_untuned(read_tuning(missing));
  EXPECT_EQ(read_tuning(missing).complaints.size(), 1u);
  std::filesystem::remove_all(home);
  expect_untuned(read_tuning(by_place));
  EXPECT_TRUE(read_tuning(by_place).complaints.empty()) << "the standard place may be empty";
}

}  // namespace
}  // namespace millrace::plan
