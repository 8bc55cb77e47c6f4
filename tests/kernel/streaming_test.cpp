#include "kernel/streaming.h"

#include <gtest/gtest.h>

#include <memory>
#include <vector>

#include "arena.h"
#include "data.h"
#include "kernel/kernel.h"
#include "oracle.h"

namespace millrace::kernel::test {
namespace {

struct Case {
  Op op;
  Type type;
};

// The same bits as the ordinary form, nothing written outside, at every misalignment of the output.
TEST(Streaming, WritesWhatReduceNWrites) {
  Random random(test_seed());
  for (const Case each : {Case{Op::sum, Type::u8}, Case{Op::max, Type::i16}, Case{Op::sum, Type::f32},
                          Case{Op::prod, Type::f64}, Case{Op::prod, Type::c64}, Case{Op::minloc, Type::f32_i32},
                          Case{Op::maxloc, Type::f64_i32}, Case{Op::sum, Type::f128}}) {
    const std::size_t bytes = type_bytes(each.type), longest = 40000 / bytes;
    std::vector<std::vector<char>> inputs;
    for (int k = 0; k < 5; ++k) inputs.push_back(random_elements(each.type, longest, random));
    const auto gaps = random_elements(each.type, longest, random);
    std::vector<const void*> pointers;
    for (const auto& input : inputs) pointers.push_back(input.data());
    Arena plain(gaps.size()), streamed(gaps.size());
    for (std::size_t slack = 0; slack < 64; slack += test_fully() ? 1 : 7) {
      for (const std::size_t n : {longest, longest - 1 - random() % 64, random() % longest, std::size_t{0}}) {
        char* const want = plain.place(gaps.data(), n * bytes, slack);
        char* const got = streamed.place(gaps.data(), n * bytes, slack);
        find_reduce_n(each.op, each.type)(pointers.data(), pointers.size(), want, n);
        reduce_n_streaming(each.op, each.type, pointers.data(), pointers.size(), got, n);
        for (std::size_t at = 0; at < n * bytes; at += bytes)
          ASSERT_TRUE(same_element(each.op, each.type, want + at, got + at))
              << kernel_name(each.op, each.type) << " n " << n << " slack " << slack << " seed " << test_seed();
        ASSERT_TRUE(streamed.surroundings_intact()) << kernel_name(each.op, each.type) << " slack " << slack;
      }
    }
  }
}

}  // namespace
}  // namespace millrace::kernel::test
