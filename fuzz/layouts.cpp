// Layouts against the naive walk, and the notation against itself. The first byte of an input says what the rest is:
//
//   even: decisions of the generator of datatypes; the second byte cuts the packed bytes into two segments
//   odd:  text in the notation of datatypes
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "../tests/layout/random_description.h"
#include "../tests/layout/typemap.h"
#include "layout/layout.h"
#include "layout/notation.h"

namespace {

using namespace millrace;
using namespace millrace::layout;
using Bytes = std::vector<std::uint8_t>;

constexpr std::size_t most_entries = 1000;
constexpr std::int64_t most_span_bytes = 1 << 16;
constexpr std::int64_t element_counts[] = {1, 3};

[[noreturn]] void fail(const char* what, const Description& description) {
  std::fprintf(stderr, "%s: %s\n", what, notation_of(description).c_str());
  std::abort();
}

void check_copies(const Description& description, const Layout& layout, const test::Typemap& map, std::int64_t count,
                  std::uint8_t where) {
  const std::int64_t last = (count - 1) * map.extent();
  const std::int64_t low = map.true_lb() + (last < 0 ? last : 0), high = map.true_ub() + (last > 0 ? last : 0);
  if (map.entries.empty() || high - low > most_span_bytes) return;
  Bytes memory(static_cast<std::size_t>(high - low)), expected, packed(static_cast<std::size_t>(map.size() * count));
  for (std::size_t i = 0; i < memory.size(); ++i) memory[i] = static_cast<std::uint8_t>(i * 131 + i / 251);
  Bytes unpacked(memory.size(), 0xee), wanted = unpacked;
  for (std::int64_t i = 0; i < count; ++i)
    for (const test::Entry& entry : map.entries) {
      const std::int64_t at = entry.displacement + i * map.extent() - low;
      const auto from = memory.begin() + at;
      expected.insert(expected.end(), from, from + entry.size);
      std::copy(from, from + entry.size, wanted.begin() + at);
    }
  const auto base = [&](Bytes& bytes) {
    return reinterpret_cast<void*>(reinterpret_cast<std::uintptr_t>(bytes.data()) - static_cast<std::uintptr_t>(low));
  };
  if (layout.pack(base(memory), count, packed.data()) != Status::ok || packed != expected) fail("pack", description);
  const auto size = static_cast<std::int64_t>(packed.size()), cut = size * where / 256;
  packed.assign(packed.size(), 0);
  layout.pack_segment(base(memory), count, cut, size - cut, packed.data() + cut);
  layout.pack_segment(base(memory), count, 0, cut, packed.data());
  if (packed != expected) fail("pack_segment", description);
  // Overlapping blocks hold the same bytes here, so that the order in which they are written does not show.
  layout.unpack(packed.data(), base(unpacked), count);
  if (unpacked != wanted) fail("unpack", description);
  unpacked.assign(unpacked.size(), 0xee);
  layout.unpack_segment(packed.data() + cut, cut, size - cut, base(unpacked), count);
  layout.unpack_segment(packed.data(), 0, cut, base(unpacked), count);
  if (unpacked != wanted) fail("unpack_segment", description);
}

void check_type(const std::uint8_t* data, std::size_t size) {
  test::Random random(data + 1, size - 1);
  const DescriptionPtr description = test::random_description(random, 1 + static_cast<int>(random() % 5));
  const auto map = test::write_out(*description, most_entries);
  if (!map) return;
  std::shared_ptr<const Layout> layout;
  if (compile(*description, layout) != Status::ok) fail("compile", *description);
  if (layout->size_bytes() != map->size() || layout->lb_bytes() != map->lb || layout->extent_bytes() != map->extent() ||
      layout->true_lb_bytes() != map->true_lb() || layout->true_extent_bytes() != map->true_ub() - map->true_lb())
    fail("bounds", *description);
  for (const std::int64_t count : element_counts) check_copies(*description, *layout, *map, count, data[0]);
}

void check_notation(std::string_view text) {
  const Parsed parsed = parse_notation(text);
  if (!parsed.description) return;
  const std::string again = notation_of(*parsed.description);
  const Parsed second = parse_notation(again);
  if (!second.description || notation_of(*second.description) != again) fail("notation", *parsed.description);
  std::shared_ptr<const Layout> layout;
  if (compile(*parsed.description, layout) == Status::ok && layout->text().empty()) fail("text", *parsed.description);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size < 3) return 0;
  if (data[0] % 2 == 0)
    check_type(data + 1, size - 1);
  else
    check_notation({reinterpret_cast<const char*>(data + 1), size - 1});
  return 0;
}
