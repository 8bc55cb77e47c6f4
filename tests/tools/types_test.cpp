#include "tools/info/types.h"

#include <gtest/gtest.h>

#include <set>

#include "kernel/kernel.h"

namespace millrace::tools {
namespace {

using nlohmann::ordered_json;

const kernel::IsaUnit& widest() { return *kernel::choose_isa("auto").unit; }

TEST(Types, EveryOpOnEveryTypeIsThereOnce) {
  const ordered_json types = report_types(widest());
  std::set<std::string> names;
  for (const char* list : {"kernels", "not_covered"})
    for (const ordered_json& entry : types[list]) EXPECT_TRUE(names.insert(entry["name"]).second) << entry;
  EXPECT_EQ(names.size(), kernel::kernel_count);
}

TEST(Types, TheUnitIsTheOneThatRuns) {
  for (const kernel::IsaUnit& unit : kernel::isa_units()) {
    if (!unit.usable) continue;
    kernel::use_isa(unit.name);
    const ordered_json types = report_types(unit);
    EXPECT_FALSE(types["kernels"].empty());
    for (const ordered_json& entry : types["kernels"]) {
      const std::string name = entry["name"];
      const std::size_t index = kernel::kernel_index_by_name(name.data(), name.size());
      ASSERT_NE(index, kernel::no_kernel) << name;
      EXPECT_EQ(entry["unit"], kernel::kernel_isa(static_cast<kernel::Op>(index / kernel::type_count),
                                                  static_cast<kernel::Type>(index % kernel::type_count)))
          << name;
    }
  }
  kernel::use_isa("auto");
}

TEST(Types, WhatIsNotCoveredHasTheReason) {
  const ordered_json types = report_types(widest());
  std::set<std::string> undefined, without_kernel;
  for (const ordered_json& entry : types["not_covered"]) {
    const std::string why = entry["why"];
    EXPECT_TRUE(why.starts_with("not defined by MPI: ") || why.starts_with("no kernel: ")) << entry;
    (why.starts_with("no kernel") ? without_kernel : undefined).insert(entry["name"]);
  }
  EXPECT_TRUE(undefined.contains("land_f64"));
  EXPECT_TRUE(undefined.contains("max_c64"));
  EXPECT_TRUE(undefined.contains("maxloc_i32"));
  EXPECT_FALSE(undefined.contains("sum_f64"));
  EXPECT_EQ(without_kernel.contains("sum_f80"), kernel::long_double_type != kernel::Type::f80);
}

TEST(Types, ThePageHasARowForEveryTypeAndNamesWhatIsMissing) {
  const std::string page = types_text(report_types(widest()));
  for (std::size_t type = 0; type < kernel::type_count; ++type)
    EXPECT_NE(page.find('\n' + std::string(type_name(static_cast<kernel::Type>(type))) + ' '), std::string::npos)
        << type;
  EXPECT_NE(page.find("not defined by MPI: land on floating point"), std::string::npos);
  EXPECT_EQ(page.find(" \n"), std::string::npos);
  EXPECT_NE(page.find("land_f64"), std::string::npos);
}

}  // namespace
}  // namespace millrace::tools
