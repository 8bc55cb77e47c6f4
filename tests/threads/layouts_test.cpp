// Copies by several threads: the bytes that one thread packs, and no others written when unpacking.
#include <gtest/gtest.h>

#include <cstring>
#include <random>
#include <vector>

#include "millrace/millrace.h"

namespace {

struct OneThreadAfterwards {
  ~OneThreadAfterwards() { millrace_use_threads(1, 0); }
};

class Made {
 public:
  explicit Made(millrace_layout* layout) : layout_(layout) {}
  ~Made() { millrace_layout_free(layout_); }
  Made(const Made&) = delete;
  Made& operator=(const Made&) = delete;
  const millrace_layout* get() const { return layout_; }

 private:
  millrace_layout* layout_;
};

using Random = std::mt19937_64;

// Nested loops with gaps, a part of them turned over or backwards.
millrace_layout* random_strided(Random& random) {
  const std::size_t dimensions = 1 + random() % 3;
  const std::size_t block = 1 + random() % (random() % 2 ? 16 : 200);
  std::vector<std::size_t> counts(dimensions);
  std::vector<std::ptrdiff_t> strides(dimensions);
  auto stride = static_cast<std::ptrdiff_t>(block + random() % 40);
  for (std::size_t d = dimensions; d-- > 0;) {
    counts[d] = 1 + random() % (dimensions == 1 ? 3000 : 25);
    strides[d] = random() % 4 ? stride : -stride;
    stride = stride * static_cast<std::ptrdiff_t>(counts[d]) + static_cast<std::ptrdiff_t>(random() % 70);
  }
  if (dimensions > 1 && random() % 2) {
    std::swap(counts[0], counts[dimensions - 1]);
    std::swap(strides[0], strides[dimensions - 1]);
  }
  millrace_layout* layout = nullptr;
  EXPECT_EQ(millrace_layout_strided(dimensions, counts.data(), strides.data(), block, &layout), MILLRACE_OK);
  return layout;
}

millrace_layout* random_blocks(Random& random) {
  std::vector<std::ptrdiff_t> places;
  std::vector<std::size_t> lengths;
  std::ptrdiff_t place = -5000;
  const bool equal = random() % 2;
  for (auto n = random() % 1500; n > 0; --n) {
    lengths.push_back(equal ? 8 : random() % 60);
    places.push_back(place);
    place += static_cast<std::ptrdiff_t>(lengths.back() + random() % 30);
  }
  millrace_layout* layout = nullptr;
  EXPECT_EQ(millrace_layout_blocks(places.size(), places.data(), lengths.data(), &layout), MILLRACE_OK);
  return layout;
}

void expect_same_by_threads(const Made& layout, unsigned threads, Random& random) {
  std::ptrdiff_t low = 0, high = 0;
  millrace_layout_reach(layout.get(), &low, &high);
  const std::size_t bytes = millrace_layout_bytes(layout.get());
  std::vector<unsigned char> memory(static_cast<std::size_t>(high - low) + 1);
  for (unsigned char& byte : memory) byte = static_cast<unsigned char>(random());
  unsigned char* const base = memory.data() - low;
  std::vector<unsigned char> alone(bytes + 1, 0x11), together(bytes + 1, 0x11);
  millrace_use_threads(1, 0);
  ASSERT_EQ(millrace_layout_pack(layout.get(), base, alone.data()), MILLRACE_OK);
  std::vector<unsigned char> expected(memory.size(), 0x77), unpacked(memory.size(), 0x77);
  ASSERT_EQ(millrace_layout_unpack(layout.get(), alone.data(), expected.data() - low), MILLRACE_OK);

  ASSERT_EQ(millrace_use_threads(threads, 1), MILLRACE_OK);
  const char* why = "";
  ASSERT_EQ(millrace_threads(bytes, &why), threads) << why;
  ASSERT_EQ(millrace_layout_pack(layout.get(), base, together.data()), MILLRACE_OK);
  ASSERT_EQ(together, alone);
  ASSERT_EQ(millrace_layout_unpack(layout.get(), alone.data(), unpacked.data() - low), MILLRACE_OK);
  ASSERT_EQ(unpacked, expected);

  const std::size_t start = bytes ? random() % bytes : 0, length = bytes - start;
  std::vector<unsigned char> end(length + 1, 0x11);
  ASSERT_EQ(millrace_layout_pack_segment(layout.get(), base, start, length, end.data()), MILLRACE_OK);
  ASSERT_EQ(std::memcmp(end.data(), alone.data() + start, length), 0);
  ASSERT_EQ(end[length], 0x11);
  ASSERT_EQ(millrace_layout_unpack_segment(layout.get(), end.data(), start, length, unpacked.data() - low),
            MILLRACE_OK);
  ASSERT_EQ(unpacked, expected);
}

TEST(LayoutsByThreads, GiveTheBytesOfOne) {
  const OneThreadAfterwards afterwards;
  Random random(20261121);
  for (int i = 0; i < 400; ++i) {
    SCOPED_TRACE(i);
    const Made layout(i % 3 ? random_strided(random) : random_blocks(random));
    expect_same_by_threads(layout, 2 + static_cast<unsigned>(i) % 4, random);
    if (HasFatalFailure()) return;
  }
}

}  // namespace
