// The C library as its users meet it: through millrace.h and the shared object only.
#include <gtest/gtest.h>

#include <cstring>
#include <limits>
#include <thread>
#include <vector>

#include "millrace/millrace.h"

namespace {

TEST(Library, ThreeForms) {
  const double a[] = {1, 2, 3}, b[] = {10, 20, 30}, c[] = {100, 200, 300};
  double inout[] = {10, 20, 30}, out[3];
  EXPECT_EQ(millrace_reduce(MILLRACE_SUM, MILLRACE_F64, a, inout, 3), MILLRACE_OK);
  EXPECT_EQ(inout[2], 33);
  EXPECT_EQ(millrace_reduce3(MILLRACE_PROD, MILLRACE_F64, a, b, out, 3), MILLRACE_OK);
  EXPECT_EQ(out[1], 40);
  const void* inputs[] = {a, b, c};
  EXPECT_EQ(millrace_reduce_n(MILLRACE_SUM, MILLRACE_F64, inputs, 3, out, 3), MILLRACE_OK);
  EXPECT_EQ(out[0], 111);
  EXPECT_EQ(millrace_reduce_n_streaming(MILLRACE_MAX, MILLRACE_F64, inputs, 3, out, 3), MILLRACE_OK);
  EXPECT_EQ(out[0], 100);
}

TEST(Library, WrongArgumentsAreNamedAndNothingIsWritten) {
  int a[4] = {1, 2, 3, 4}, b[4] = {5, 6, 7, 8};
  const int before[4] = {5, 6, 7, 8};
  const auto op = static_cast<millrace_op>(12);
  const auto type = static_cast<millrace_type>(36);
  EXPECT_EQ(millrace_reduce(op, MILLRACE_I32, a, b, 4), MILLRACE_BAD_OP);
  EXPECT_EQ(millrace_reduce(static_cast<millrace_op>(-1), MILLRACE_I32, a, b, 4), MILLRACE_BAD_OP);
  EXPECT_EQ(millrace_reduce(MILLRACE_SUM, type, a, b, 4), MILLRACE_BAD_TYPE);
  EXPECT_EQ(millrace_reduce(MILLRACE_BAND, MILLRACE_F32, a, b, 4), MILLRACE_NOT_SUPPORTED);
  EXPECT_EQ(millrace_reduce(MILLRACE_MAXLOC, MILLRACE_I32, a, b, 4), MILLRACE_NOT_SUPPORTED);
  EXPECT_EQ(millrace_reduce(MILLRACE_SUM, MILLRACE_I32, nullptr, b, 4), MILLRACE_BAD_BUFFER);
  EXPECT_EQ(millrace_reduce(MILLRACE_SUM, MILLRACE_I32, a, nullptr, 4), MILLRACE_BAD_BUFFER);
  EXPECT_EQ(millrace_reduce(MILLRACE_SUM, MILLRACE_I32, a, b, std::numeric_limits<std::size_t>::max() / 2),
            MILLRACE_BAD_BUFFER);
  EXPECT_EQ(millrace_reduce(MILLRACE_SUM, MILLRACE_I32, b + 1, b, 3), MILLRACE_BAD_OVERLAP);
  EXPECT_EQ(millrace_reduce3(MILLRACE_SUM, MILLRACE_I32, a, b + 1, b, 3), MILLRACE_BAD_OVERLAP);
  const void* inputs[] = {a, b};
  EXPECT_EQ(millrace_reduce_n(MILLRACE_SUM, MILLRACE_I32, inputs, 2, b, 4), MILLRACE_BAD_OVERLAP);
  EXPECT_EQ(millrace_reduce_n(MILLRACE_SUM, MILLRACE_I32, inputs, 0, b, 4), MILLRACE_BAD_BUFFER);
  EXPECT_EQ(std::memcmp(b, before, sizeof b), 0);
  EXPECT_EQ(millrace_reduce(MILLRACE_SUM, MILLRACE_I32, nullptr, nullptr, 0), MILLRACE_OK);
}

TEST(Library, TheSameBufferMayBeBothOperands) {
  int a[4] = {1, 2, 3, 4};
  EXPECT_EQ(millrace_reduce(MILLRACE_SUM, MILLRACE_I32, a, a, 4), MILLRACE_OK);
  EXPECT_EQ(a[3], 8);
  EXPECT_EQ(millrace_reduce3(MILLRACE_SUM, MILLRACE_I32, a, a, a, 4), MILLRACE_OK);
  EXPECT_EQ(a[3], 16);
}

TEST(Library, NamesAndSizes) {
  EXPECT_STREQ(millrace_op_name(MILLRACE_MINLOC), "minloc");
  EXPECT_STREQ(millrace_type_name(MILLRACE_F64_I32), "f64_i32");
  EXPECT_EQ(millrace_op_name(static_cast<millrace_op>(99)), nullptr);
  EXPECT_EQ(millrace_type_name(static_cast<millrace_type>(99)), nullptr);
  EXPECT_EQ(millrace_type_bytes(MILLRACE_C64), 16u);
  EXPECT_EQ(millrace_type_bytes(static_cast<millrace_type>(99)), 0u);
  EXPECT_TRUE(millrace_supported(MILLRACE_LAND, MILLRACE_BOOL8));
  EXPECT_FALSE(millrace_supported(MILLRACE_SUM, MILLRACE_BOOL8));
  EXPECT_STREQ(millrace_status_text(MILLRACE_BAD_OVERLAP), "bad overlap");
  EXPECT_STREQ(millrace_status_text(static_cast<millrace_status>(99)), "not a status");
}

TEST(Library, InstructionSets) {
  millrace_isa_unit unit;
  ASSERT_EQ(millrace_isa_unit_at(0, &unit), 1);
  EXPECT_STREQ(unit.name, "scalar");
  EXPECT_EQ(millrace_isa_unit_at(1000, &unit), 0);
  EXPECT_EQ(millrace_isa_unit_at(0, nullptr), 0);
  EXPECT_EQ(millrace_use_isa("scalar"), MILLRACE_OK);
  EXPECT_STREQ(millrace_isa(), "scalar");
  EXPECT_STREQ(millrace_kernel_isa(MILLRACE_SUM, MILLRACE_F64), "scalar");
  EXPECT_EQ(millrace_use_isa("nonsense"), MILLRACE_BAD_ISA);
  EXPECT_EQ(millrace_use_isa(nullptr), MILLRACE_BAD_ISA);
  EXPECT_EQ(millrace_use_isa("auto"), MILLRACE_OK);
}

TEST(Library, ThreadsMayChangeTheInstructionSetUnderWay) {
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([t] {
      std::vector<int> a(1000, 1), b(1000, 0);
      for (int i = 0; i < 1000; ++i) {
        if (t == 0) millrace_use_isa(i % 2 ? "scalar" : "auto");
        millrace_reduce(MILLRACE_SUM, MILLRACE_I32, a.data(), b.data(), a.size());
      }
      for (const int value : b) EXPECT_EQ(value, 1000);
    });
  }
  for (std::thread& thread : threads) thread.join();
}

}  // namespace
