#include <gtest/gtest.h>

#include <cstdlib>
#include <cstring>
#include <string>
#include <thread>
#include <vector>

#include "kernel/cpu.h"
#include "kernel/kernel.h"
#include "kernel/narrower.h"

namespace millrace::kernel {
namespace {

TEST(Isa, ScalarIsAlwaysThereAndUnitsGrow) {
  const auto units = isa_units();
  ASSERT_FALSE(units.empty());
  EXPECT_STREQ(units[0].name, "scalar");
  EXPECT_TRUE(units[0].usable);
  for (const IsaUnit& unit : units) {
    EXPECT_EQ(unit.usable, *unit.why == '\0') << unit.name;
    EXPECT_STREQ(unit.name, unit.set->isa);
  }
}

TEST(Isa, AutoTakesTheLastUsableUnit) {
  const IsaUnit* best = nullptr;
  for (const IsaUnit& unit : isa_units())
    if (unit.usable) best = &unit;
  EXPECT_EQ(choose_isa("auto").unit, best);
  EXPECT_EQ(choose_isa("").unit, best);
}

TEST(Isa, ForcedUnitIsTheOneThatRuns) {
  for (const IsaUnit& unit : isa_units()) {
    if (!unit.usable) continue;
    EXPECT_STREQ(use_isa(unit.name).complaint, "");
    EXPECT_EQ(&active_isa(), &unit);
    EXPECT_EQ(find_reduce2(Op::sum, Type::f64), kernel_of(*unit.set, Op::sum, Type::f64).reduce2);
    EXPECT_STREQ(kernel_isa(Op::sum, Type::f64), unit.name);
    EXPECT_STREQ(kernel_isa(Op::sum, Type::f128), "scalar") << "no unit has vectors of these";
    EXPECT_EQ(kernel_isa(Op::sum, Type::bool8), nullptr);
  }
  use_isa("auto");
}

// On Zen 4 some kernels are AVX2's, and only where nobody has named a unit.
TEST(Isa, NarrowerVectorsWhereTheyAreFaster) {
  const KernelSet& widest = *choose_isa("auto").unit->set;
  use_isa("auto");
  const KernelSet* const narrower = active_kernels().narrower;
  EXPECT_EQ(narrower != nullptr, is_zen_3_or_4() && widest.vector_bits == 512);
  EXPECT_TRUE(!narrower || narrower->vector_bits == 256);
  std::size_t own = 0, others = 0;
  for (std::size_t index = 0; index < kernel_count; ++index) {
    const Op op = static_cast<Op>(index / type_count);
    const Type type = static_cast<Type>(index % type_count);
    if (!find_reduce2(op, type)) continue;
    const bool is_narrower = narrower && narrower_is_faster(op, type);
    const KernelSet& set = is_narrower ? *narrower : widest;
    if (!kernel_of(set, op, type).reduce2) continue;  // the scalar one
    EXPECT_STREQ(kernel_isa(op, type), set.isa) << kernel_name(op, type);
    EXPECT_EQ(find_reduce_n(op, type), kernel_of(set, op, type).reduce_n) << kernel_name(op, type);
    ++(is_narrower ? others : own);
  }
  EXPECT_GT(own, 50u);
  EXPECT_EQ(others > 0, narrower != nullptr);
  use_isa("512");
  EXPECT_EQ(active_kernels().narrower, nullptr);
  use_isa("avx9");
  EXPECT_EQ(active_kernels().narrower, narrower);
  use_isa("auto");
}

// On Zen 5 the longest arrays go in halves, and only where nobody has named a unit.
TEST(Isa, HalvesWhereTheyAreFaster) {
  for (const char* named : {"auto", "512", "avx9", "256", "scalar", "auto"}) {
    const bool is_automatic = std::string(named) == "auto" || std::string(named) == "avx9";
    EXPECT_EQ(use_isa(named).is_automatic, is_automatic) << named;
    EXPECT_EQ(loop_limits.halves, is_automatic ? halves_from_bytes() : default_loop_limits.halves) << named;
  }
}

TEST(Isa, WhatOnlyAvx512HasStaysThere) {
  EXPECT_TRUE(narrower_is_faster(Op::sum, Type::f64) && narrower_is_faster(Op::max, Type::i64));
  EXPECT_FALSE(narrower_is_faster(Op::prod, Type::i64) || narrower_is_faster(Op::max, Type::u64));
  EXPECT_FALSE(narrower_is_faster(Op::sum, Type::i128) || narrower_is_faster(Op::sum, Type::f16));
  EXPECT_FALSE(narrower_is_faster(Op::land, Type::i32) || narrower_is_faster(Op::maxloc, Type::f64_i32));
}

TEST(Isa, WidthIsACap) {
  for (const unsigned cap : {128u, 256u, 512u}) {
    const IsaChoice choice = choose_isa(std::to_string(cap));
    EXPECT_LE(choice.unit->vector_bits, cap);
    EXPECT_TRUE(choice.unit->usable);
    EXPECT_STREQ(choice.complaint, "");
  }
}

TEST(Isa, UnknownUnitIsComplainedAboutAndReplaced) {
  const IsaChoice choice = choose_isa("avx9");
  EXPECT_EQ(choice.unit, choose_isa("auto").unit);
  EXPECT_NE(std::strstr(choice.complaint, "avx9"), nullptr) << choice.complaint;
  const IsaChoice endless = choose_isa(std::string(1000, 'x'));
  EXPECT_LT(std::strlen(endless.complaint), sizeof endless.complaint);
}

TEST(Isa, FirstUseFromManyThreadsAgrees) {
  std::vector<std::thread> threads;
  std::vector<Reduce2> found(8);
  for (Reduce2& slot : found) threads.emplace_back([&slot] { slot = find_reduce2(Op::max, Type::i32); });
  for (std::thread& thread : threads) thread.join();
  for (const Reduce2 each : found) EXPECT_EQ(each, found[0]);
}

#if defined(__aarch64__)
// The tests run once per vector length: prove that the length asked for is the one in force.
TEST(Isa, SveVectorLengthIsTheOneAskedFor) {
  const char* bits = std::getenv("MILLRACE_TEST_SVE_BITS");
  if (!bits) GTEST_SKIP() << "MILLRACE_TEST_SVE_BITS is not set";
  EXPECT_STREQ(choose_isa("auto").unit->name, "sve");
  EXPECT_EQ(std::to_string(choose_isa("sve").unit->vector_bits), bits);
}

TEST(JudgeCpu, ProcessorWithoutSve) {
  const IsaTable table = judge_cpu({0, 0});
  EXPECT_TRUE(table.units[1].usable);
  EXPECT_STREQ(table.units[1].name, "neon");
  EXPECT_FALSE(table.units[2].usable);
  EXPECT_STREQ(table.units[2].why, "HWCAP does not report SVE");
}
#endif

#if defined(__x86_64__)
constexpr std::uint32_t bit(unsigned position) { return std::uint32_t{1} << position; }
constexpr std::uint32_t leaf1_all = bit(20) | bit(27) | bit(28) | bit(29);
constexpr std::uint32_t leaf7_all = bit(5) | bit(16) | bit(17) | bit(30) | bit(31);

const IsaUnit& unit_of(const IsaTable& table, const char* name) {
  for (const IsaUnit& unit : table.units)
    if (unit.name && std::strcmp(unit.name, name) == 0) return unit;
  return table.units[0];
}

TEST(JudgeCpu, EverythingPresentAndEnabled) {
  const IsaTable table = judge_cpu({leaf1_all, leaf7_all, 0xe7});
  for (std::size_t i = 0; i < table.count; ++i) EXPECT_TRUE(table.units[i].usable) << table.units[i].name;
}

TEST(JudgeCpu, OperatingSystemWithoutZmm) {
  const IsaTable table = judge_cpu({leaf1_all, leaf7_all, 0x07});
  EXPECT_TRUE(unit_of(table, "avx2").usable);
  EXPECT_TRUE(unit_of(table, "avx512").present);
  EXPECT_FALSE(unit_of(table, "avx512").usable);
  EXPECT_STREQ(unit_of(table, "avx512").why, "XCR0 does not enable ZMM");
}

TEST(JudgeCpu, OperatingSystemWithoutYmm) {
  const IsaTable table = judge_cpu({leaf1_all, leaf7_all, 0x03});
  EXPECT_FALSE(unit_of(table, "avx2").usable);
  EXPECT_STREQ(unit_of(table, "avx2").why, "XCR0 does not enable YMM");
  EXPECT_FALSE(unit_of(table, "avx512").usable);
  EXPECT_TRUE(unit_of(table, "sse42").usable);
}

TEST(JudgeCpu, OperatingSystemWithoutXsave) {
  const IsaTable table = judge_cpu({leaf1_all & ~bit(27), leaf7_all, 0});
  EXPECT_STREQ(unit_of(table, "avx2").why, "the operating system does not use XSAVE");
}

TEST(JudgeCpu, Avx512NeedsAllFourParts) {
  for (const unsigned part : {16u, 17u, 30u, 31u}) {
    const IsaTable table = judge_cpu({leaf1_all, leaf7_all & ~bit(part), 0xe7});
    EXPECT_FALSE(unit_of(table, "avx512").present) << part;
    EXPECT_NE(std::strstr(unit_of(table, "avx512").why, "CPUID does not report AVX512"), nullptr);
    EXPECT_TRUE(unit_of(table, "avx2").usable);
  }
}

TEST(JudgeCpu, OldestProcessor) {
  const IsaTable table = judge_cpu({0, 0, 0});
  EXPECT_TRUE(unit_of(table, "scalar").usable);
  EXPECT_STREQ(unit_of(table, "sse42").why, "CPUID does not report SSE4.2");
}
#endif

}  // namespace
}  // namespace millrace::kernel
