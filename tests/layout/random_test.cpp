// Random datatypes against the naive walk: bounds, packed bytes, unpacked bytes, segments out of order; nothing read or
// written outside the true extent (guard pages), no gap byte changed.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <vector>

#include "layout/layout.h"
#include "layout/notation.h"
#include "memory.h"
#include "random_description.h"
#include "typemap.h"

namespace millrace::layout::test {
namespace {

constexpr std::size_t most_entries = 2000, most_span_bytes = 1 << 18, most_packed_bytes = 1 << 17;
constexpr int deepest = 5;

using Bytes = std::vector<unsigned char>;

// One type, `count` elements of it, in memory.
class Case {
 public:
  Case(const Typemap& map, std::int64_t count) : map_(map), count_(count) {
    bytes_ = map.size() * count;
    if (bytes_ == 0) return;
    const std::int64_t last = (count - 1) * map.extent();
    low_ = map.true_lb() + std::min<std::int64_t>(last, 0);
    high_ = map.true_ub() + std::max<std::int64_t>(last, 0);
  }

  bool fits() const {
    return high_ - low_ <= static_cast<std::int64_t>(most_span_bytes) &&
           bytes_ <= static_cast<std::int64_t>(most_packed_bytes);
  }
  std::size_t span_bytes() const { return static_cast<std::size_t>(high_ - low_); }
  std::size_t packed_bytes() const { return static_cast<std::size_t>(bytes_); }
  std::int64_t low() const { return low_; }

  // visit(offset in the span, packed offset, size)
  template <class Visit>
  void walk(const Visit& visit) const {
    std::size_t packed = 0;
    for (std::int64_t i = 0; i < count_; ++i)
      for (const Entry& e : map_.entries) {
        visit(static_cast<std::size_t>(e.displacement + i * map_.extent() - low_), packed,
              static_cast<std::size_t>(e.size));
        packed += static_cast<std::size_t>(e.size);
      }
  }

 private:
  const Typemap& map_;
  std::int64_t count_, bytes_ = 0, low_ = 0, high_ = 0;
};

// Cuts [0, bytes) anywhere and shuffles the pieces.
std::vector<std::pair<std::size_t, std::size_t>> random_segments(Random& random, std::size_t bytes) {
  std::vector<std::size_t> cuts{0, bytes};
  for (auto n = random() % 6; n > 0 && bytes > 0; --n) cuts.push_back(random() % bytes);
  std::sort(cuts.begin(), cuts.end());
  std::vector<std::pair<std::size_t, std::size_t>> segments;
  for (std::size_t i = 1; i < cuts.size(); ++i) segments.emplace_back(cuts[i - 1], cuts[i] - cuts[i - 1]);
  std::shuffle(segments.begin(), segments.end(), random);
  return segments;
}

class RandomLayouts : public testing::Test {
 protected:
  RandomLayouts() : memory_(most_span_bytes), packed_(most_packed_bytes), pristine_(most_span_bytes) {
    Random random(7);
    for (auto& byte : pristine_) byte = static_cast<unsigned char>(random());
  }

  void expect_bounds(const Layout& layout, const Typemap& map) {
    ASSERT_EQ(layout.size_bytes(), map.size());
    ASSERT_EQ(layout.lb_bytes(), map.lb);
    ASSERT_EQ(layout.extent_bytes(), map.extent());
    ASSERT_EQ(layout.true_lb_bytes(), map.true_lb());
    ASSERT_EQ(layout.true_extent_bytes(), map.true_ub() - map.true_lb());
  }

  void expect_copies(Random& random, const Layout& layout, const Typemap& map, std::int64_t count) {
    const Case job(map, count);
    if (!job.fits()) return;
    std::int64_t bytes = -1;
    ASSERT_EQ(layout.packed_bytes(count, bytes), Status::ok);
    ASSERT_EQ(bytes, static_cast<std::int64_t>(job.packed_bytes()));
    const Against against = random() % 2 ? Against::lower : Against::upper;
    unsigned char* const span = memory_.span(job.span_bytes(), against);
    unsigned char* const packed = packed_.span(job.packed_bytes(), against);
    auto* const base =
        reinterpret_cast<void*>(reinterpret_cast<std::uintptr_t>(span) - static_cast<std::uintptr_t>(job.low()));
    std::memcpy(span, pristine_.data(), job.span_bytes());
    Bytes expected(job.packed_bytes());
    job.walk([&](std::size_t at, std::size_t to, std::size_t size) { std::memcpy(&expected[to], span + at, size); });

    std::memset(packed, 0xaa, expected.size());
    ASSERT_EQ(layout.pack(base, count, packed), Status::ok);
    ASSERT_TRUE(std::equal(expected.begin(), expected.end(), packed)) << "pack";
    ASSERT_EQ(std::memcmp(span, pristine_.data(), job.span_bytes()), 0) << "pack wrote its source";

    std::memset(packed, 0xaa, expected.size());
    for (const auto& [start, length] : random_segments(random, expected.size())) {
      unsigned char* const piece = packed_.span(length, Against::upper);
      if (length < most_packed_bytes) piece[-1] = 0x5c;
      ASSERT_EQ(
          layout.pack_segment(base, count, static_cast<std::int64_t>(start), static_cast<std::int64_t>(length), piece),
          Status::ok);
      ASSERT_TRUE(std::equal(piece, piece + length, expected.begin() + static_cast<std::ptrdiff_t>(start)))
          << "pack_segment " << start << " " << length;
      ASSERT_TRUE(length == most_packed_bytes || piece[-1] == 0x5c) << "before the segment";
    }
    if (!map.has_overlap(count)) expect_unpacks(random, layout, count, job, base, span, against);
  }

  void expect_unpacks(Random& random, const Layout& layout, std::int64_t count, const Case& job, void* base,
                      unsigned char* span, Against against) {
    Bytes source(job.packed_bytes());
    for (auto& byte : source) byte = static_cast<unsigned char>(random());
    Bytes expected(pristine_.begin(), pristine_.begin() + static_cast<std::ptrdiff_t>(job.span_bytes()));
    job.walk(
        [&](std::size_t at, std::size_t from, std::size_t size) { std::memcpy(&expected[at], &source[from], size); });

    unsigned char* const packed = packed_.span(source.size(), against);
    std::copy(source.begin(), source.end(), packed);
    ASSERT_EQ(layout.unpack(packed, base, count), Status::ok);
    ASSERT_TRUE(std::equal(expected.begin(), expected.end(), span)) << "unpack";

    std::memcpy(span, pristine_.data(), job.span_bytes());
    for (const auto& [start, length] : random_segments(random, source.size())) {
      unsigned char* const piece = packed_.span(length, Against::upper);
      if (length) std::memcpy(piece, &source[start], length);
      ASSERT_EQ(layout.unpack_segment(piece, static_cast<std::int64_t>(start), static_cast<std::int64_t>(length), base,
                                      count),
                Status::ok);
    }
    ASSERT_TRUE(std::equal(expected.begin(), expected.end(), span)) << "unpack_segment";
  }

  void run(std::size_t types, std::uint64_t seed) {
    Random random(seed);
    std::size_t seen[13] = {}, empty = 0;
    for (std::size_t done = 0; done < types;) {
      const DescriptionPtr description = random_description(random, 1 + static_cast<int>(random() % deepest));
      const auto map = write_out(*description, most_entries);
      if (!map || map->true_ub() - map->true_lb() > static_cast<std::int64_t>(most_span_bytes)) continue;
      SCOPED_TRACE("seed " + std::to_string(seed) + ", type " + std::to_string(done) + ": " +
                   notation_of(*description));
      std::shared_ptr<const Layout> layout;
      ASSERT_EQ(compile(*description, layout), Status::ok);
      expect_bounds(*layout, *map);
      for (const std::int64_t count : {1, 0, 2, 3, 11}) {
        expect_copies(random, *layout, *map, count);
        if (HasFatalFailure()) return void(ADD_FAILURE() << "count " << count << "\n" << layout->text());
      }
      ++seen[static_cast<int>(description->combiner)];
      empty += map->entries.empty();
      ++done;
    }
    for (int combiner = 1; combiner < 13; ++combiner) EXPECT_GT(seen[combiner], types / 100) << combiner;
    EXPECT_GT(empty, 0u);
    EXPECT_LT(empty, types / 3);
  }

  Memory memory_, packed_;
  Bytes pristine_;
};

TEST_F(RandomLayouts, AgreeWithTheNaiveWalk) {
  const char* const types = std::getenv("MILLRACE_TEST_LAYOUTS");
  const char* const seed = std::getenv("MILLRACE_TEST_SEED");
  run(types ? std::strtoul(types, nullptr, 0) : 20000, seed ? std::strtoull(seed, nullptr, 0) : 20260101);
}

// What random types are too small for: columns side by side, far enough apart and long enough to be run as tiles.
TEST_F(RandomLayouts, ColumnsAgreeWithTheNaiveWalk) {
  Random random(11);
  for (const char* text :
       {"resized(0, 8, vector(300, 1, 100, double))", "resized(0, 2, hvector(257, 1, 1000, short))",
        "contiguous(5, resized(0, 8, hvector(4, 1, 800, hvector(70, 1, 3200, double))))",
        "hvector(3, 1, -4, hvector(2, 1, 4000, hvector(150, 1, 128, int)))",
        "hvector(19, 1, 4, hvector(300, 1, 512, int))", "hvector(17, 1, 1, hvector(300, 1, 80, char))",
        "hvector(9, 1, 16, hvector(300, 1, -320, double_complex))",
        "contiguous(9, resized(0, 8, hvector(300, 1, -640, struct([1, 1], [0, 4], [int, short]))))"}) {
    SCOPED_TRACE(text);
    const DescriptionPtr description = parse_notation(text).description;
    const auto map = write_out(*description, 100000);
    std::shared_ptr<const Layout> layout;
    ASSERT_EQ(compile(*description, layout), Status::ok);
    EXPECT_NE(layout->text().find("(tiles)"), std::string::npos) << layout->text();
    for (const std::int64_t count : {1, 2, 11})
      for (int i = 0; i < 20; ++i) {
        ASSERT_TRUE(Case(*map, count).fits() || count > 1);
        expect_copies(random, *layout, *map, count);
        if (HasFatalFailure()) return void(ADD_FAILURE() << "count " << count << "\n" << layout->text());
      }
  }
}

// A list in which some equal blocks lie side by side: cut into equal units again, whole and in segments.
TEST_F(RandomLayouts, ListsWithNeighboursAgreeWithTheNaiveWalk) {
  Random random(12);
  for (const char* text : {"indexed_block(1, [40, 3, 4, 9, 25, 13, 30, 17, 0, 22], double)",
                           "contiguous(3, indexed_block(3, [40, 3, 6, 91, 25, 13, 30, 17, 0, 22, 50, 60], short))",
                           "indexed([2, 2, 2, 2, 4, 2, 2, 2, 2, 2], [90, 3, 40, 9, 25, 13, 30, 17, 0, 22], int)"}) {
    SCOPED_TRACE(text);
    const DescriptionPtr description = parse_notation(text).description;
    const auto map = write_out(*description, 100000);
    std::shared_ptr<const Layout> layout;
    ASSERT_EQ(compile(*description, layout), Status::ok);
    EXPECT_NE(layout->text().find("in units of"), std::string::npos) << layout->text();
    for (const std::int64_t count : {1, 2, 11})
      for (int i = 0; i < 20; ++i) {
        expect_copies(random, *layout, *map, count);
        if (HasFatalFailure()) return void(ADD_FAILURE() << "count " << count << "\n" << layout->text());
      }
  }
}

}  // namespace
}  // namespace millrace::layout::test
