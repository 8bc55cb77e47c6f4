// maximum WHICH BYTES CALLS: MAX of two float buffers, CALLS times; WHICH is scalar, neon, sve (kernels of Millrace) or
// plain (the compiler's loop). Prints a checksum, which must be the same for all. WHICH may also be known: a loop whose
// instructions are known, to check the counter with.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string_view>
#include <vector>

#include "kernel/kernel.h"

extern "C" void plain_max(const void* in, void* inout, std::size_t elements);

namespace {

// Two instructions an element.
void known_loop(const void*, void*, std::size_t elements) {
  asm volatile("1: subs %0, %0, #1\n b.ne 1b" : "+r"(elements) : : "cc");
}

}  // namespace

int main(int argc, char** argv) {
  using namespace millrace::kernel;
  if (argc != 4) return 2;
  const std::string_view which = argv[1];
  Reduce2 reduce = which == "plain" ? plain_max : which == "known" ? known_loop : nullptr;
  for (const IsaUnit& unit : isa_units())
    if (unit.name == which && unit.usable) reduce = kernel_of(*unit.set, Op::max, Type::f32).reduce2;
  if (!reduce) {
    std::fprintf(stderr, "maximum: no usable kernels named %s\n", argv[1]);
    return 2;
  }

  const std::size_t elements = std::strtoull(argv[2], nullptr, 10) / sizeof(float);
  std::vector<float> in(elements), inout(elements);
  std::uint32_t random = 1;
  const auto next = [&] {
    return static_cast<float>(static_cast<std::int32_t>(random = random * 1664525 + 1013904223));
  };
  for (std::size_t i = 0; i < elements; ++i) {
    in[i] = next();
    inout[i] = next();
  }
  for (long calls = std::atol(argv[3]); calls > 0; --calls) reduce(in.data(), inout.data(), elements);

  std::uint32_t sum = 0;
  for (const float value : inout) {
    std::uint32_t bits;
    std::memcpy(&bits, &value, sizeof bits);
    sum = sum * 31 + bits;
  }
  std::printf("checksum %08x\n", sum);
}
