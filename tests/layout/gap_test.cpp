// Gap bytes belong to somebody else: a thread counts in every one of them while another unpacks around them. A byte
// that was written back, even with the value read a moment before, would lose counts.
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <memory>
#include <thread>
#include <vector>

#include "layout/layout.h"
#include "layout/notation.h"
#include "random_description.h"
#include "typemap.h"

namespace millrace::layout::test {
namespace {

// The second thread, which counts in the bytes of one list after the other.
class Counter {
 public:
  ~Counter() {
    stop_.store(true, std::memory_order_release);
    thread_.join();
  }

  // Counts in the gaps of `memory` while `work` runs, which is done again and again until the counter has been round
  // `least_rounds` times. Returns how many times it was.
  template <class Work>
  unsigned count_during(unsigned char* memory, const std::vector<std::size_t>& gaps, unsigned least_rounds,
                        const Work& work) {
    memory_ = memory;
    gaps_ = &gaps;
    rounds_.store(0, std::memory_order_relaxed);
    busy_.store(true, std::memory_order_release);
    do work();
    while (rounds_.load(std::memory_order_relaxed) < least_rounds);
    busy_.store(false, std::memory_order_release);
    while (!idle_.load(std::memory_order_acquire)) std::this_thread::yield();
    idle_.store(false, std::memory_order_relaxed);
    return rounds_.load(std::memory_order_relaxed);
  }

 private:
  void run() {
    for (;;) {
      while (!busy_.load(std::memory_order_acquire)) {
        if (stop_.load(std::memory_order_acquire)) return;
        std::this_thread::yield();
      }
      while (busy_.load(std::memory_order_acquire)) {
        for (const std::size_t gap : *gaps_)
          std::atomic_ref(memory_[gap]).store(static_cast<unsigned char>(std::atomic_ref(memory_[gap]).load() + 1));
        rounds_.fetch_add(1, std::memory_order_relaxed);
      }
      idle_.store(true, std::memory_order_release);  // partner: count_during(), which then reads what was counted
    }
  }

  unsigned char* memory_ = nullptr;
  const std::vector<std::size_t>* gaps_ = nullptr;
  std::atomic<bool> busy_{false};  // release: memory_ and gaps_ are set, or the work is over; partner: run()
  std::atomic<bool> idle_{false};
  std::atomic<bool> stop_{false};
  std::atomic<unsigned> rounds_{0};
  std::thread thread_{[this] { run(); }};
};

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

  Counter counter;
  int turns = 0;
  unsigned rounds = 0;
  do {
    rounds += counter.count_during(memory.data(), gaps, 200, [&] {
      layout->unpack(packed.data(), memory.data(), count);
      layout->unpack_segment(packed.data() + 1, 1, static_cast<std::int64_t>(packed_bytes) - 2, memory.data(), count);
      ++turns;
    });
  } while (turns < 20000);
  for (const std::size_t gap : gaps) ASSERT_EQ(memory[gap], static_cast<unsigned char>(rounds)) << gap;
}

INSTANTIATE_TEST_SUITE_P(Layouts, Gaps,
                         testing::Values("vector(200, 1, 2, int)", "vector(100, 2, 3, int)", "vector(64, 4, 8, double)",
                                         "vector(50, 3, 5, char)",
                                         "resized(0, 24, struct([1, 1, 3], [0, 8, 16], [int, double, char]))",
                                         "vector(9, 1, 3, short_int)",
                                         "indexed([3, 1, 7, 2, 5], [0, 4, 6, 20, 25], short)",
                                         "indexed_block(1, [0, 3, 4, 9, 11, 13, 20, 28, 29, 31], double)",
                                         "subarray([6, 7, 9], [5, 4, 3], [0, 0, 0], c, float)"));

// The same for the random types of random_test.cpp: those with gaps and without overlaps, whole and in two segments.
TEST(GapsOfRandomTypes, AreNeverWritten) {
  constexpr std::size_t most_entries = 2000, margin = 64;
  constexpr std::int64_t most_span_bytes = 1 << 15;
  const char* const wanted = std::getenv("MILLRACE_TEST_GAPS");
  const std::size_t types = wanted ? std::strtoul(wanted, nullptr, 0) : 1500;
  Random random(20261121);
  Counter counter;
  for (std::size_t done = 0; done < types;) {
    const DescriptionPtr description = random_description(random, 1 + static_cast<int>(random() % 5));
    const auto map = write_out(*description, most_entries);
    const std::int64_t count = 1 + static_cast<std::int64_t>(random() % 8);
    if (!map || map->size() == 0 || map->has_overlap(count)) continue;
    const std::int64_t last = (count - 1) * map->extent();
    const std::int64_t low = map->true_lb() + std::min<std::int64_t>(last, 0);
    const std::int64_t span_bytes = map->true_ub() + std::max<std::int64_t>(last, 0) - low;
    if (span_bytes > most_span_bytes || span_bytes == map->size() * count) continue;
    SCOPED_TRACE("type " + std::to_string(done++) + ", count " + std::to_string(count) + ": " +
                 notation_of(*description));
    std::shared_ptr<const Layout> layout;
    ASSERT_EQ(compile(*description, layout), Status::ok);
    std::vector<unsigned char> memory(static_cast<std::size_t>(span_bytes) + 2 * margin, 0);
    unsigned char* const base = memory.data() + margin - low;
    std::vector<bool> ours(memory.size());
    for (std::int64_t i = 0; i < count; ++i)
      for (const Entry& entry : map->entries)
        for (std::int64_t byte = 0; byte < entry.size; ++byte)
          ours[margin + static_cast<std::size_t>(i * map->extent() + entry.displacement + byte - low)] = true;
    std::vector<std::size_t> gaps;
    for (std::size_t i = 0; i < ours.size(); ++i)
      if (!ours[i]) gaps.push_back(i);
    const std::vector<unsigned char> packed(static_cast<std::size_t>(map->size() * count), 0xff);
    const auto bytes = static_cast<std::int64_t>(packed.size());
    const std::int64_t cut = static_cast<std::int64_t>(random() % packed.size());
    const unsigned rounds = counter.count_during(memory.data(), gaps, 3, [&] {
      for (int i = 0; i < 20; ++i) {
        layout->unpack(packed.data(), base, count);
        layout->unpack_segment(packed.data() + cut, cut, bytes - cut, base, count);
        layout->unpack_segment(packed.data(), 0, cut, base, count);
      }
    });
    for (std::size_t i = 0; i < ours.size(); ++i)
      ASSERT_EQ(memory[i], ours[i] ? 0xff : static_cast<unsigned char>(rounds)) << i << "\n" << layout->text();
  }
}

}  // namespace
}  // namespace millrace::layout::test
