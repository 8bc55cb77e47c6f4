// What the matrix of calls (matrix_test.cpp) and the stress test leave out.
#include "collective/collective.h"

#include <gtest/gtest.h>
#include <sched.h>

#include "calls.h"
#include "ranks.h"

namespace millrace::collective::test {
namespace {

// A root of Bcast and a leaf of Reduce go on for 64 calls while the other side has not begun.
TEST(RunAhead, SixtyFourCalls) {
  for (const bool reduces : {false, true}) {
    const std::string wrong = run_all(ranks(2), [&](Group& group) -> std::string {
      // The other side begins when told so by a flag, which is set after the last call: else this would wait for ever.
      const bool ahead = group.rank() == (reduces ? 1u : 0u);
      std::atomic<std::uint64_t>& told = group.member(reduces ? 1 : 0).reduced.value;
      if (!ahead)
        while (told.load(std::memory_order_acquire) == 0) sched_yield();
      for (std::uint64_t number = 0; number < 64; ++number) {
        CallCase call;
        call.kind = reduces ? Kind::reduce : Kind::bcast;
        call.operation = reduces ? &operations()[2] : nullptr;
        call.elements = reduces ? 512 : 4096;
        call.number = number;
        if (std::string result = check_call(group, call); !result.empty()) return result;
      }
      if (ahead) told.store(1, std::memory_order_release);
      return "";
    });
    EXPECT_EQ(wrong, "");
  }
}

}  // namespace
}  // namespace millrace::collective::test
