// Which messages of derived types are ours: the classes of known layouts, and a table without contradictions.
#include "plan/layout_messages.h"

#include "plan/hosts/hosts.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "layout/layout.h"
#include "layout/notation.h"

namespace millrace::plan {
namespace {

LayoutClass class_of(const std::string& notation, std::int64_t count = 1) {
  const layout::Parsed parsed = layout::parse_notation(notation);
  EXPECT_TRUE(parsed.description) << parsed.complaint;
  std::shared_ptr<const layout::Layout> layout;
  EXPECT_EQ(layout::compile(*parsed.description, layout), Status::ok);
  std::int64_t bytes = 0;
  EXPECT_EQ(layout->packed_bytes(count, bytes), Status::ok);
  return layout_class(false, layout->is_list(), layout->mean_block_bytes(), bytes, layout->touched_bytes(count));
}

TEST(LayoutClass, OfKnownLayouts) {
  EXPECT_EQ(class_of("vector(100, 1, 2, int)"), LayoutClass::blocks_4);
  EXPECT_EQ(class_of("vector(100, 2, 3, int)"), LayoutClass::blocks_8);
  EXPECT_EQ(class_of("resized(0, 12, contiguous(2, int))", 100), LayoutClass::blocks_8);
  EXPECT_EQ(class_of("vector(100, 4, 8, double)"), LayoutClass::blocks_32);
  EXPECT_EQ(class_of("vector(100, 16, 32, double)"), LayoutClass::blocks_128);
  EXPECT_EQ(class_of("vector(100, 17, 32, double)"), LayoutClass::blocks_1024);
  EXPECT_EQ(class_of("vector(100, 1, 1000, double)"), LayoutClass::sparse);
  EXPECT_EQ(class_of("vector(100, 16, 1600, double)"), LayoutClass::blocks_128) << "blocks longer than a line";
  EXPECT_EQ(class_of("indexed_block(1, [0, 5, 2, 9, 30, 17], double)"), LayoutClass::list_short);
  EXPECT_EQ(class_of("indexed([1, 9, 2, 5], [0, 2, 20, 30], double)"), LayoutClass::list_long);
  EXPECT_EQ(layout_class(true, true, 4, 100, 100000), LayoutClass::mixed);
}

TEST(LayoutClass, TouchedBytesOfHugeLayoutsSaturate) {
  EXPECT_EQ(class_of("resized(0, 9223372036854775807, int)", 1000000), LayoutClass::sparse);
}

void expect_answers(const HostFacts& host) {
  for (const MessageRow& row : host.messages) {
    EXPECT_GE(row.range.least_bytes, 1);
    EXPECT_GE(row.range.most_bytes, row.range.least_bytes);
    int rows = 0;
    for (const MessageRow& other : host.messages) rows += other.layout_class == row.layout_class;
    EXPECT_EQ(rows, 1) << host.name << ", " << layout_class_name(row.layout_class);
    const MessageRange range = message_ranges(host)[static_cast<std::size_t>(row.layout_class)];
    EXPECT_EQ(range.least_bytes, row.range.least_bytes);
    EXPECT_TRUE(range.holds(row.range.least_bytes) && range.holds(row.range.most_bytes));
    EXPECT_FALSE(range.holds(row.range.least_bytes - 1));
  }
}

TEST(MessageTable, EveryRowIsAnAnswer) {
  for (const HostFacts* host : hosts::measured) {
    EXPECT_FALSE(host->messages.empty());
    expect_answers(*host);
  }
}

TEST(MessageTable, NothingIsTakenWithoutMeasurements) {
  for (const MessageRange& range : message_ranges(hosts::unknown))
    for (const std::int64_t bytes : {std::int64_t{1}, std::int64_t{4096}, any_size}) EXPECT_FALSE(range.holds(bytes));
}

// One of the processors was faster by itself (docs/results/layout_messages.md), so that a slip in the table is seen.
TEST(MessageTable, TheWorstProcessorCounts) {
  const MessageRanges four = message_ranges(hosts::openmpi_4), five = message_ranges(hosts::openmpi_5);
  EXPECT_FALSE(four[static_cast<std::size_t>(LayoutClass::sparse)].holds(8000));
  EXPECT_FALSE(four[static_cast<std::size_t>(LayoutClass::sparse)].holds(64000));
  EXPECT_TRUE(four[static_cast<std::size_t>(LayoutClass::list_short)].holds(64 * kib));
  EXPECT_FALSE(four[static_cast<std::size_t>(LayoutClass::list_short)].holds(mib));
  for (const LayoutClass slow : {LayoutClass::blocks_8, LayoutClass::blocks_32, LayoutClass::blocks_1024})
    EXPECT_FALSE(five[static_cast<std::size_t>(slow)].holds(64 * kib));
}

TEST(MessageTable, StructuresAreOursVectorsOfLongBlocksAreOpenMpis) {
  for (const HostFacts* host : hosts::measured) {
    const MessageRanges ranges = message_ranges(*host);
    EXPECT_TRUE(ranges[static_cast<std::size_t>(LayoutClass::mixed)].holds(8 * kib)) << host->name;
    const bool is_openmpi = host->vendor == Vendor::openmpi;
    EXPECT_EQ(ranges[static_cast<std::size_t>(LayoutClass::blocks_32)].holds(512 * kib), !is_openmpi);
    EXPECT_FALSE(ranges[static_cast<std::size_t>(LayoutClass::blocks_1024)].holds(4 * mib));
  }
}

TEST(CollectiveTable, SpreadsAreNeverTakenWhereExchangesAreNot) {
  for (const HostFacts* host : hosts::measured)
    for (const CollectiveRow& row : host->collectives) {
      EXPECT_LE(row.exchange.least_bytes, row.exchange.most_bytes);
      if (row.spread.most_bytes < row.spread.least_bytes) continue;  // none
      EXPECT_LE(row.exchange.least_bytes, row.spread.least_bytes);
      EXPECT_LE(row.spread.most_bytes, row.exchange.most_bytes);
    }
  const MessageRanges spread = collective_ranges(hosts::openmpi_5, CollectiveClass::spread);
  const MessageRanges exchange = collective_ranges(hosts::openmpi_5, CollectiveClass::exchange);
  EXPECT_FALSE(spread[static_cast<std::size_t>(LayoutClass::blocks_4)].holds(64 * kib));
  EXPECT_TRUE(exchange[static_cast<std::size_t>(LayoutClass::blocks_4)].holds(64 * kib));
  const MessageRanges none = collective_ranges(hosts::unknown, CollectiveClass::exchange);
  EXPECT_FALSE(none[static_cast<std::size_t>(LayoutClass::mixed)].holds(64 * kib));
}

}  // namespace
}  // namespace millrace::plan
