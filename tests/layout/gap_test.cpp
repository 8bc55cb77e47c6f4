// Gap bytes belong to somebody else: a thread counts in every one of them while another unpacks around them. A byte
// that was written back, even with the value read a moment before, would lose counts.
#include <gtest/gtest.h>

#include <atomic>
#include <memory>
#include <thread>
#include <vector>

#include "layout/layout.h"
#include "layout/notation.h"

namespace millrace::layout::test {
namespace {

class Gaps : public testing::TestWithParam<const char*> {};

TEST_P(Gaps, AreNeverWritten) {
  std::shared_ptr<const Layout> layout;
  ASSERT_EQ(compile(*parse_notation(GetParam()).description, layout), Status::ok);
  constexpr std::int64_t count = 5;
  const auto packed_bytes = static_cast<std::size_t>(layout->size_bytes() * count);
  const auto span_bytes = static_cast<std::size_t>(layout->extent_bytes() * count + 64);
  ASSERT_EQ(layout->true_lb_bytes(), 0);
  std::vector<unsigned char> packed(packed_bytes, 1), memory(span_bytes, 0);
  ASSERT_EQ(layout->unpack(packed.data(), memory.data(), count), Status::ok);
  std::vector<std::size_t> gaps;
  for (std::size_t i = 0; i < span_bytes; ++i)
    if (memory[i] == 0) gaps.push_back(i);
  ASSERT_EQ(gaps.size() + packed_bytes, span_bytes);

  std::atomic<bool> stop{false};  // release: the unpacking is over; acquire: the counter's last look
  std::atomic<unsigned> rounds{0};
  std::thread counter([&] {
    while (!stop.load(std::memory_order_acquire)) {
      ++rounds;
      for (const std::size_t gap : gaps)
        std::atomic_ref(memory[gap]).store(static_cast<unsigned char>(std::atomic_ref(memory[gap]).load() + 1));
    }
  });
  for (int i = 0; i < 1000 || rounds.load() < 200; ++i) {
    layout->unpack(packed.data(), memory.data(), count);
    layout->unpack_segment(packed.data() + 1, 1, static_cast<std::int64_t>(packed_bytes) - 2, memory.data(), count);
  }
  stop.store(true, std::memory_order_release);
  counter.join();
  for (const std::size_t gap : gaps) ASSERT_EQ(memory[gap], static_cast<unsigned char>(rounds.load())) << gap;
}

INSTANTIATE_TEST_SUITE_P(Layouts, Gaps,
                         testing::Values("vector(200, 1, 2, int)", "vector(100, 2, 3, int)", "vector(64, 4, 8, double)",
                                         "vector(50, 3, 5, char)",
                                         "resized(0, 24, struct([1, 1, 3], [0, 8, 16], [int, double, char]))",
                                         "vector(9, 1, 3, short_int)",
                                         "indexed([3, 1, 7, 2, 5], [0, 4, 6, 20, 25], short)",
                                         "indexed_block(1, [0, 3, 4, 9, 11, 13, 20, 28, 29, 31], double)",
                                         "subarray([6, 7, 9], [5, 4, 3], [0, 0, 0], c, float)"));

}  // namespace
}  // namespace millrace::layout::test
