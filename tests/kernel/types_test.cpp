#include <gtest/gtest.h>

#include <cstring>
#include <set>
#include <string>

#include "kernel/kernel.h"

namespace millrace::kernel {
namespace {

TEST(KernelNames, AreUniqueAndLeadBack) {
  std::set<std::string> names;
  for (std::size_t index = 0; index < kernel_count; ++index) {
    const char* name = kernel_name(index);
    EXPECT_TRUE(names.insert(name).second) << name;
    EXPECT_EQ(kernel_index_by_name(name, std::strlen(name)), index);
  }
  EXPECT_EQ(kernel_name(kernel_count), nullptr);
  EXPECT_LT(kernel_count, 2048u) << "the record's limit";
}

TEST(KernelNames, ReadAsOpAndType) {
  EXPECT_STREQ(kernel_name(Op::sum, Type::f64), "sum_f64");
  EXPECT_STREQ(kernel_name(Op::maxloc, Type::f64_i32), "maxloc_f64_i32");
  EXPECT_STREQ(kernel_name(Op::minloc, Type::f128_i32), "minloc_f128_i32");
}

TEST(KernelNames, UnknownOnesAreNotFound) {
  for (const char* name : {"", "sum", "sum_", "sum_f6", "sum_f641", "a_name_longer_than_any_kernel_has"})
    EXPECT_EQ(kernel_index_by_name(name, std::strlen(name)), no_kernel) << name;
}

// The matrix of the MPI standard, and nothing else, is covered on every processor; f80 where the processor has it.
TEST(Coverage, IsTheStandardsMatrix) {
  for (std::size_t op = 0; op < op_count; ++op) {
    for (std::size_t type = 0; type < type_count; ++type) {
      const Type t = static_cast<Type>(type);
      const bool is_f80 = t == Type::f80 || t == Type::c80 || t == Type::f80_i32;
      const bool expected = op_applies(static_cast<Op>(op), t) && (!is_f80 || long_double_type == Type::f80);
      const Kernel& kernel = kernel_of(scalar_unit, static_cast<Op>(op), t);
      EXPECT_EQ(kernel.reduce2 != nullptr, expected) << kernel_name(kernel_index(static_cast<Op>(op), t));
      EXPECT_EQ(kernel.reduce3 != nullptr, expected);
      EXPECT_EQ(kernel.reduce_n != nullptr, expected);
      EXPECT_EQ(find_reduce2(static_cast<Op>(op), t) != nullptr, expected);
    }
  }
}

TEST(TypeBytes, AreThoseOfC) {
  EXPECT_EQ(type_bytes(long_double_type), sizeof(long double));
  EXPECT_EQ(type_bytes(long_double_complex_type), 2 * sizeof(long double));
  struct LongDoubleInt {
    long double value;
    int index;
  };
  EXPECT_EQ(type_bytes(long_double_int_type), sizeof(LongDoubleInt));
  struct ShortInt {
    short value;
    int index;
  };
  EXPECT_EQ(type_bytes(Type::i16_i32), sizeof(ShortInt));
}

}  // namespace
}  // namespace millrace::kernel
