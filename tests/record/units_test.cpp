#include "record/units.h"

#include <gtest/gtest.h>

namespace millrace::record {
namespace {

TEST(Units, OfTime) {
  EXPECT_EQ(scaled_time(0), "0");
  EXPECT_EQ(scaled_time(7.4), "7 ns");
  EXPECT_EQ(scaled_time(999), "999 ns");
  EXPECT_EQ(scaled_time(999.7), "1.00 us");
  EXPECT_EQ(scaled_time(1234), "1.23 us");
  EXPECT_EQ(scaled_time(12'345), "12.3 us");
  EXPECT_EQ(scaled_time(99'960), "100 us");
  EXPECT_EQ(scaled_time(999'700), "1.00 ms");
  EXPECT_EQ(scaled_time(1e9), "1.00 s");
  EXPECT_EQ(scaled_time(123'456e9), "123456 s");
}

TEST(Units, OfBytes) {
  EXPECT_EQ(scaled_bytes(0), "0");
  EXPECT_EQ(scaled_bytes(1023), "1023 B");
  EXPECT_EQ(scaled_bytes(1024), "1.00 KiB");
  EXPECT_EQ(scaled_bytes(1024 * 1024 - 1), "1.00 MiB");
  EXPECT_EQ(scaled_bytes(std::uint64_t{5} << 40), "5.00 TiB");
  EXPECT_EQ(scaled_bytes(UINT64_MAX), "16.0 EiB");
}

TEST(Units, OfCounts) {
  EXPECT_EQ(scaled_count(0), "0");
  EXPECT_EQ(scaled_count(9999), "9999");
  EXPECT_EQ(scaled_count(10'000), "10.0 k");
  EXPECT_EQ(scaled_count(123'456'789), "123 M");
}

TEST(Units, OfShares) {
  EXPECT_EQ(percent(0), "0 %");
  EXPECT_EQ(percent(0.0001), "<0.1 %");
  EXPECT_EQ(percent(0.0123), "1.2 %");
  EXPECT_EQ(percent(0.5), "50 %");
  EXPECT_EQ(percent(1.5), "150 %");
}

}  // namespace
}  // namespace millrace::record
