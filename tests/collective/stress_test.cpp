// Very many short calls in random order and with random delays, each checked. 10^6 of them under MILLRACE_TEST_FULL.
#include <gtest/gtest.h>

#include <cstdlib>
#include <iterator>
#include <random>

#include "calls.h"
#include "ranks.h"

namespace millrace::collective::test {
namespace {

TEST(Stress, ShortCallsOfAllKindsWithDelays) {
  const int calls = std::getenv("MILLRACE_TEST_FULL") ? 1000000 : 20000;
  prepare_operations();
  for (const std::uint32_t count : {2u, 3u, 4u}) {
    RankSetup setup = ranks(count);
    setup.shape.slot_bytes = 4096;  // small rings, so that calls catch up with each other
    setup.shape.cell_bytes = 512;
    setup.shape.calls_ahead = 2;
    setup.timeout_seconds = 600;
    forget_arrivals();
    const std::string wrong = run_all(setup, [&](Group& group) -> std::string {
      std::mt19937 common(7), own(group.rank());
      for (int number = 0; number < calls; ++number) {
        CallCase call;
        call.kind = called_kinds[common() % std::size(called_kinds)];
        call.operation = call.reduces() ? &operations()[common() % operations().size()] : nullptr;
        call.elements = common() % (common() % 50 == 0 ? 3000 : 40);
        call.root = has_root(call.kind) ? common() % count : 0;
        call.in_place = common() % 2 == 0;
        call.number = static_cast<std::uint64_t>(number);
        for (unsigned wait = own() % 500 == 0 ? own() % 20000 : 0; wait != 0; --wait) asm volatile("");
        if (std::string result = check_call(group, call); !result.empty()) return result;
      }
      return "";
    });
    EXPECT_EQ(wrong, "") << count << " ranks";
  }
}

}  // namespace
}  // namespace millrace::collective::test
