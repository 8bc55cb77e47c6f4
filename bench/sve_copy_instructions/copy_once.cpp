// copy_once WHICH BYTES CALLS: packs BYTES of vector(1,2,int), CALLS times, with a kernel of Millrace (scalar, neon:
// blocks; sve: structure loads; gather: svindex gathers), or copies BYTES contiguously (four: four-vector loads; one: a
// loop of one vector a turn). Prints a checksum of what was written.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string_view>
#include <vector>

#include "kernel/copy/units.h"

extern "C" void copy_one_vector(void* to, const void* from, std::size_t bytes);

namespace {

using namespace millrace::kernel;

const CopySet* set_named(std::string_view name) {
  for (const CopySet* set : usable_copies())
    if (set->isa == name) return set;
  std::fprintf(stderr, "copy_once: no usable copies named %s\n", name.data());
  std::exit(2);
}

PackStrided kernel_of(std::string_view isa, CopyKernel kernel) {
  return set_named(isa)->pack_strided[static_cast<std::size_t>(kernel)];
}

// Two instructions an element.
void known_loop(std::size_t elements) { asm volatile("1: subs %0, %0, #1\n b.ne 1b" : "+r"(elements) : : "cc"); }

}  // namespace

int main(int argc, char** argv) {
  if (argc != 4) return 2;
  const std::string_view which = argv[1];
  const std::size_t bytes = std::strtoull(argv[2], nullptr, 10);
  std::vector<std::uint32_t> from(bytes / 2), to(bytes / 4);
  std::uint32_t random = 1;
  for (std::uint32_t& value : from) value = random = random * 1664525 + 1013904223;
  for (long calls = std::atol(argv[3]); calls > 0; --calls) {
    if (which == "known") known_loop(bytes / 4);
    if (which == "one") copy_one_vector(to.data(), from.data(), bytes);
    if (which == "four") kernel_of("sve", CopyKernel::wide)(to.data(), from.data(), bytes, 0, 1);
    if (which == "scalar" || which == "neon")
      kernel_of(which, CopyKernel::blocks)(to.data(), from.data(), 4, 8, bytes / 4);
    if (which == "sve") kernel_of("sve", CopyKernel::permute)(to.data(), from.data(), 4, 8, bytes / 4);
    if (which == "gather") kernel_of("sve", CopyKernel::gather)(to.data(), from.data(), 4, 8, bytes / 4);
  }
  std::uint32_t sum = 0;
  for (const std::uint32_t value : to) sum = sum * 31 + value;
  std::printf("checksum %08x\n", sum);
}
