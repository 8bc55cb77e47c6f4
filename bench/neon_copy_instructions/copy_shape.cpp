// copy_shape WHICH BYTES CALLS: packs or unpacks BYTES, CALLS times, with a kernel of the NEON unit. WHICH is
// pack-KERNEL:BLOCK:STRIDE, unpack-KERNEL:BLOCK:STRIDE or pack-KERNEL:15:24 for {int, double, char[3]}, KERNEL blocks,
// wide or permute (see copy_set.h). Prints a checksum of what was written.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string_view>
#include <vector>

#include "kernel/copy/units.h"

namespace {

using namespace millrace::kernel;

// Two instructions for each 4 bytes.
void known_loop(std::size_t elements) { asm volatile("1: subs %0, %0, #1\n b.ne 1b" : "+r"(elements) : : "cc"); }

struct Shape {
  bool packs;
  std::size_t kernel, block_bytes;
  std::ptrdiff_t stride_bytes;
};

Shape shape_of(const char* which) {
  char direction[8], kernel[8];
  Shape shape{};
  if (std::sscanf(which, "%7[^-]-%7[^:]:%zu:%td", direction, kernel, &shape.block_bytes, &shape.stride_bytes) != 4) {
    std::fprintf(stderr, "copy_shape: what is %s?\n", which);
    std::exit(2);
  }
  shape.packs = std::string_view(direction) == "pack";
  const std::string_view name = kernel;
  shape.kernel = static_cast<std::size_t>(name == "permute" ? CopyKernel::permute
                                          : name == "wide"  ? CopyKernel::wide
                                                            : CopyKernel::blocks);
  return shape;
}

const CopySet& neon() {
  for (const CopySet* set : usable_copies())
    if (std::string_view(set->isa) == "neon") return *set;
  std::exit(2);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 4) return 2;
  const std::size_t bytes = std::strtoull(argv[2], nullptr, 10);
  long calls = std::atol(argv[3]);
  if (std::string_view(argv[1]) == "known") {
    for (; calls > 0; --calls) known_loop(bytes / 4);
    return 0;
  }
  const Shape shape = shape_of(argv[1]);
  const std::size_t blocks = bytes / shape.block_bytes;
  std::vector<unsigned char> packed(bytes), spread(blocks * static_cast<std::size_t>(shape.stride_bytes));
  std::uint32_t random = 1;
  for (auto* data : {&packed, &spread})
    for (unsigned char& value : *data)
      value = static_cast<unsigned char>((random = random * 1664525 + 1013904223) >> 24);
  Pattern pattern;
  constexpr Piece pieces[] = {{0, 4}, {8, 8}, {16, 3}};
  prepare_pattern(pattern, pieces, 3, 24);
  const bool is_struct = shape.block_bytes == pattern.packed_bytes && shape.stride_bytes == pattern.extent_bytes;
  for (; calls > 0; --calls)
    if (is_struct)
      neon().pack_pattern[shape.kernel](packed.data(), spread.data(), pattern, blocks);
    else if (shape.packs)
      neon().pack_strided[shape.kernel](packed.data(), spread.data(), shape.block_bytes, shape.stride_bytes, blocks);
    else
      neon().unpack_strided[shape.kernel](spread.data(), packed.data(), shape.block_bytes, shape.stride_bytes, blocks);
  std::uint32_t sum = 0;
  for (const auto* data : {&packed, &spread})
    for (const unsigned char value : *data) sum = sum * 31 + value;
  std::printf("checksum %08x\n", sum);
}
