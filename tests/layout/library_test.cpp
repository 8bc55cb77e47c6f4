// Layouts through the C interface.
#include <gtest/gtest.h>

#include <cstdint>
#include <cstring>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "millrace/millrace.h"

namespace {

struct Free {
  void operator()(millrace_layout* layout) const { millrace_layout_free(layout); }
};
using Layout = std::unique_ptr<millrace_layout, Free>;

// The last argument of the functions that make a layout.
class Out {
 public:
  explicit Out(Layout& layout) : layout_(layout) {}
  ~Out() { layout_.reset(made_); }
  operator millrace_layout**() { return &made_; }

 private:
  Layout& layout_;
  millrace_layout* made_ = nullptr;
};

std::vector<std::uint8_t> numbered(std::size_t bytes) {
  std::vector<std::uint8_t> result(bytes);
  for (std::size_t i = 0; i < bytes; ++i) result[i] = static_cast<std::uint8_t>(i * 7 + i / 256);
  return result;
}

TEST(LibraryLayouts, StridedArrays) {
  const std::size_t counts[] = {3, 4};
  const std::ptrdiff_t strides[] = {-40, 8};
  Layout layout;
  ASSERT_EQ(millrace_layout_strided(2, counts, strides, 4, Out(layout)), MILLRACE_OK);
  EXPECT_EQ(millrace_layout_bytes(layout.get()), 48u);
  std::ptrdiff_t low, high;
  millrace_layout_reach(layout.get(), &low, &high);
  EXPECT_EQ(low, -80);
  EXPECT_EQ(high, 28);
  const auto memory = numbered(108);
  std::uint8_t packed[48], expected[48], *to = expected;
  for (int i = 0; i < 3; ++i)
    for (int j = 0; j < 4; ++j, to += 4) std::memcpy(to, &memory[static_cast<std::size_t>(80 - 40 * i + 8 * j)], 4);
  ASSERT_EQ(millrace_layout_pack(layout.get(), &memory[80], packed), MILLRACE_OK);
  EXPECT_EQ(std::memcmp(packed, expected, 48), 0);
  std::memset(packed, 0, 48);
  for (const auto& [start, length] : {std::pair{13u, 35u}, {0u, 13u}, {48u, 0u}}) {
    ASSERT_EQ(millrace_layout_pack_segment(layout.get(), &memory[80], start, length, packed + start), MILLRACE_OK);
  }
  EXPECT_EQ(std::memcmp(packed, expected, 48), 0);
  std::vector<std::uint8_t> other(108, 0xee), wanted(108, 0xee);
  for (int i = 0; i < 3; ++i)
    for (int j = 0; j < 4; ++j) {
      const auto at = static_cast<std::size_t>(80 - 40 * i + 8 * j);
      std::memcpy(&wanted[at], &memory[at], 4);
    }
  ASSERT_EQ(millrace_layout_unpack(layout.get(), packed, &other[80]), MILLRACE_OK);
  EXPECT_EQ(other, wanted);
  std::fill(other.begin(), other.end(), 0xee);
  for (const auto& [start, length] : {std::pair{5u, 43u}, {0u, 5u}}) {
    ASSERT_EQ(millrace_layout_unpack_segment(layout.get(), packed + start, start, length, &other[80]), MILLRACE_OK);
  }
  EXPECT_EQ(other, wanted);
}

TEST(LibraryLayouts, BlocksRepeatedAndJoined) {
  const std::ptrdiff_t at[] = {0, 8};
  const std::size_t lengths[] = {4, 11};
  Layout one, many, both;
  ASSERT_EQ(millrace_layout_blocks(2, at, lengths, Out(one)), MILLRACE_OK);
  ASSERT_EQ(millrace_layout_repeat(one.get(), 5, 24, Out(many)), MILLRACE_OK);
  const millrace_layout* const children[] = {many.get(), one.get()};
  const std::ptrdiff_t places[] = {0, 200};
  ASSERT_EQ(millrace_layout_join(2, children, places, Out(both)), MILLRACE_OK);
  one.reset();
  many.reset();
  EXPECT_EQ(millrace_layout_bytes(both.get()), 90u);
  const auto memory = numbered(300);
  std::vector<std::uint8_t> packed(90), expected;
  for (const std::size_t base : {0, 24, 48, 72, 96, 200})
    for (const auto& [from, bytes] : {std::pair{0u, 4u}, {8u, 11u}})
      for (std::size_t i = 0; i < bytes; ++i) expected.push_back(memory[base + from + i]);
  ASSERT_EQ(millrace_layout_pack(both.get(), memory.data(), packed.data()), MILLRACE_OK);
  EXPECT_EQ(packed, expected);
}

TEST(LibraryLayouts, TextFitsWhereItIsPut) {
  const std::size_t count = 10;
  const std::ptrdiff_t stride = 16;
  Layout layout;
  ASSERT_EQ(millrace_layout_strided(1, &count, &stride, 8, Out(layout)), MILLRACE_OK);
  const std::size_t needed = millrace_layout_text(layout.get(), nullptr, 0);
  std::string text(needed, '?'), start(5, '?');
  EXPECT_EQ(millrace_layout_text(layout.get(), text.data(), needed), needed);
  EXPECT_NE(text.find("loop of 10, stride 16 (strided)\n  8 bytes at 0\n"), std::string::npos) << text;
  EXPECT_EQ(text.back(), '\0');
  millrace_layout_text(layout.get(), start.data(), 4);
  EXPECT_EQ(start, text.substr(0, 3) + std::string("\0?", 2));
}

TEST(LibraryLayouts, AreEqualIfTheyPackTheSameBytesInTheSameOrder) {
  const std::size_t counts[] = {3, 2}, all[] = {6}, lengths[] = {4, 4, 4, 4, 4, 4}, none[] = {0};
  const std::ptrdiff_t strides[] = {16, 8}, step[] = {8}, places[] = {0, 8, 16, 24, 32, 40},
                       turned[] = {8, 0, 16, 24, 32, 40}, moved[] = {4, 12, 20, 28, 36, 44};
  Layout nested, flat, listed, other_order, other_place, empty, another_empty;
  ASSERT_EQ(millrace_layout_strided(2, counts, strides, 4, Out(nested)), MILLRACE_OK);
  ASSERT_EQ(millrace_layout_strided(1, all, step, 4, Out(flat)), MILLRACE_OK);
  ASSERT_EQ(millrace_layout_blocks(6, places, lengths, Out(listed)), MILLRACE_OK);
  ASSERT_EQ(millrace_layout_blocks(6, turned, lengths, Out(other_order)), MILLRACE_OK);
  ASSERT_EQ(millrace_layout_blocks(6, moved, lengths, Out(other_place)), MILLRACE_OK);
  ASSERT_EQ(millrace_layout_strided(1, none, step, 4, Out(empty)), MILLRACE_OK);
  ASSERT_EQ(millrace_layout_repeat(empty.get(), 3, 64, Out(another_empty)), MILLRACE_OK);
  EXPECT_TRUE(millrace_layout_equal(nested.get(), flat.get()));
  EXPECT_TRUE(millrace_layout_equal(flat.get(), listed.get()));
  EXPECT_TRUE(millrace_layout_equal(empty.get(), another_empty.get()));
  EXPECT_FALSE(millrace_layout_equal(listed.get(), other_order.get()));
  EXPECT_FALSE(millrace_layout_equal(listed.get(), other_place.get()));
  EXPECT_FALSE(millrace_layout_equal(listed.get(), empty.get()));
  EXPECT_FALSE(millrace_layout_equal(listed.get(), nullptr));
  EXPECT_FALSE(millrace_layout_equal(nullptr, nullptr));
}

TEST(LibraryLayouts, WrongArgumentsAreNamed) {
  const std::size_t counts[] = {SIZE_MAX, 1};
  const std::size_t large[] = {std::size_t{1} << 62, std::size_t{1} << 62};
  const std::ptrdiff_t strides[] = {1, 1};
  millrace_layout* layout = nullptr;
  const millrace_layout* const nobody[] = {nullptr};
  EXPECT_EQ(millrace_layout_strided(1, nullptr, strides, 1, &layout), MILLRACE_BAD_LAYOUT);
  EXPECT_EQ(millrace_layout_strided(2, counts, strides, 1, nullptr), MILLRACE_BAD_BUFFER);
  EXPECT_EQ(millrace_layout_strided(2, counts, strides, 1, &layout), MILLRACE_TOO_LARGE);
  EXPECT_EQ(millrace_layout_strided(2, large, strides, 1, &layout), MILLRACE_TOO_LARGE);
  EXPECT_EQ(millrace_layout_blocks(2, strides, nullptr, &layout), MILLRACE_BAD_LAYOUT);
  EXPECT_EQ(millrace_layout_repeat(nullptr, 2, 8, &layout), MILLRACE_BAD_LAYOUT);
  EXPECT_EQ(millrace_layout_join(1, nobody, strides, &layout), MILLRACE_BAD_LAYOUT);
  EXPECT_EQ(layout, nullptr);
  ASSERT_EQ(millrace_layout_blocks(2, strides, large, &layout), MILLRACE_TOO_LARGE);
  ASSERT_EQ(millrace_layout_strided(0, nullptr, nullptr, 8, &layout), MILLRACE_OK);
  char memory[8] = {}, packed[8];
  EXPECT_EQ(millrace_layout_pack(nullptr, memory, packed), MILLRACE_BAD_LAYOUT);
  EXPECT_EQ(millrace_layout_pack(layout, nullptr, packed), MILLRACE_BAD_BUFFER);
  EXPECT_EQ(millrace_layout_unpack(layout, nullptr, memory), MILLRACE_BAD_BUFFER);
  EXPECT_EQ(millrace_layout_pack_segment(layout, memory, 8, 1, packed), MILLRACE_BAD_LAYOUT);
  EXPECT_EQ(millrace_layout_pack_segment(layout, memory, 9, 0, packed), MILLRACE_BAD_LAYOUT);
  EXPECT_EQ(millrace_layout_unpack_segment(layout, packed, 4, SIZE_MAX, memory), MILLRACE_BAD_LAYOUT);
  EXPECT_EQ(millrace_layout_pack_segment(layout, nullptr, 8, 0, nullptr), MILLRACE_OK);
  millrace_layout_free(layout);
  millrace_layout_free(nullptr);
  EXPECT_EQ(millrace_layout_bytes(nullptr), 0u);
  for (int status = MILLRACE_BAD_LAYOUT; status <= MILLRACE_NO_MEMORY; ++status)
    EXPECT_STRNE(millrace_status_text(static_cast<millrace_status>(status)), "not a status");
}

TEST(LibraryLayouts, OneLayoutManyThreads) {
  const std::size_t counts[] = {100, 30};
  const std::ptrdiff_t strides[] = {1000, 12};
  Layout layout;
  ASSERT_EQ(millrace_layout_strided(2, counts, strides, 8, Out(layout)), MILLRACE_OK);
  const auto memory = numbered(100000);
  std::vector<std::uint8_t> expected(24000);
  millrace_layout_pack(layout.get(), memory.data(), expected.data());
  std::vector<std::thread> threads;
  std::vector<int> wrong(4);
  for (std::size_t t = 0; t < wrong.size(); ++t)
    threads.emplace_back([&, t] {
      for (int i = 0; i < 200; ++i) {
        std::vector<std::uint8_t> packed(expected.size());
        millrace_layout_pack(layout.get(), memory.data(), packed.data());
        wrong[t] += packed != expected;
      }
    });
  for (auto& thread : threads) thread.join();
  for (const int count : wrong) EXPECT_EQ(count, 0);
}

}  // namespace
