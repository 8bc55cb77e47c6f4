// Every kernel of every usable unit against the naive oracle: all forms, lengths from 0 to four vectors and every tail,
// any alignment, with the bytes around the buffers watched, and all of it once more with the loops for long arrays.
// MILLRACE_TEST_FULL=1 tries every misalignment.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <initializer_list>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "arena.h"
#include "data.h"
#include "kernel/kernel.h"
#include "oracle.h"

namespace millrace::kernel::test {
namespace {

constexpr std::size_t most_inputs = 16;

// Of each limit whether the loops beyond it are taken, whatever the length.
struct Loops {
  const char* name;
  bool loaded, halves;
};
constexpr Loops as_shipped{"", false, false};

struct KernelId {
  Op op;
  Type type;
  Loops loops;
};

std::vector<KernelId> covered_kernels(std::initializer_list<Loops> loops) {
  std::vector<KernelId> all;
  for (std::size_t op = 0; op < op_count; ++op)
    for (std::size_t type = 0; type < type_count; ++type)
      if (kernel_of(scalar_unit, static_cast<Op>(op), static_cast<Type>(type)).reduce2)
        for (const Loops& each : loops) all.push_back({static_cast<Op>(op), static_cast<Type>(type), each});
  return all;
}

std::string hex(const char* element, std::size_t bytes) {
  std::string text;
  char digits[3];
  for (std::size_t i = bytes; i-- > 0;) {
    std::snprintf(digits, sizeof digits, "%02x", static_cast<unsigned>(static_cast<unsigned char>(element[i])));
    text += digits;
  }
  return text;
}

class Reduce : public testing::TestWithParam<KernelId> {
 protected:
  Reduce() : op(GetParam().op), type(GetParam().type), bytes(type_bytes(type)) {
    const Loops& loops = GetParam().loops;
    loop_limits = default_loop_limits;
    if (loops.loaded) loop_limits.reads_once = loop_limits.loads_apart = 0;
    if (loops.halves) loop_limits.halves = 0;
  }
  ~Reduce() override { loop_limits = default_loop_limits; }

  // The kernel of a unit, if it has one of its own, and other loops where those are looked at.
  const Kernel* kernel_to_test(const IsaUnit& unit) const {
    const Kernel& kernel = kernel_of(*unit.set, op, type);
    const bool has_loops = GetParam().loops.name == as_shipped.name || std::string_view(unit.name) == "avx512";
    return unit.usable && kernel.reduce2 && has_loops ? &kernel : nullptr;
  }

  // want[k] = inputs[0] op ... op inputs[k], gap bytes as in `gaps`.
  std::vector<std::vector<char>> oracle(const std::vector<std::vector<char>>& inputs, const std::vector<char>& gaps) {
    std::vector<std::vector<char>> want;
    for (std::size_t k = 0; k < inputs.size(); ++k) {
      std::vector<char> next = gaps;
      for (std::size_t at = 0; at < gaps.size(); at += bytes) {
        if (k == 0)
          copy_value(&inputs[0][at], &next[at]);
        else
          naive_apply(op, type, &want[k - 1][at], &inputs[k][at], &next[at]);
      }
      want.push_back(next);
    }
    return want;
  }

  // All fields, no gaps: x MAX x is x for pairs; for the others there is no gap but f80's.
  void copy_value(const char* from, char* to) {
    if (type_class(type) == TypeClass::pair)
      naive_apply(Op::maxloc, type, from, from, to);
    else if (type == Type::f80 || type == Type::c80) {
      std::memcpy(to, from, 10);
      if (type == Type::c80) std::memcpy(to + 16, from + 16, 10);
    } else {
      std::memcpy(to, from, bytes);
    }
  }

  void expect_same(const std::vector<char>& want, const char* got, std::size_t elements, const std::string& where) {
    for (std::size_t i = 0; i < elements; ++i) {
      if (same_element(op, type, &want[i * bytes], got + i * bytes)) continue;
      ADD_FAILURE() << where << " element " << i << " of " << elements << ": got 0x" << hex(got + i * bytes, bytes)
                    << ", want 0x" << hex(&want[i * bytes], bytes) << ", MILLRACE_TEST_SEED=" << test_seed();
      return;
    }
  }

  std::string where(const IsaUnit& unit, const char* form, std::size_t slack) {
    return std::string(unit.name) + " " + kernel_name(op, type) + " " + form + " slack " + std::to_string(slack);
  }

  Op op;
  Type type;
  std::size_t bytes;
};

TEST_P(Reduce, TwoBuffersAndThree) {
  Random random(test_seed() + kernel_index(op, type));
  for (const IsaUnit& unit : isa_units()) {
    const Kernel* const kernel = kernel_to_test(unit);
    if (!kernel) continue;
    const std::size_t vector_bytes = std::max(unit.vector_bits, 128u) / 8;
    const std::size_t longest = 5 * std::max<std::size_t>(vector_bytes / bytes, 1) + 3;
    const auto a = random_elements(type, longest, random), b = random_elements(type, longest, random);
    const auto gaps = random_elements(type, longest, random);
    const auto into_b = oracle({a, b}, b)[1], into_a = oracle({a, b}, a)[1], into_gaps = oracle({a, b}, gaps)[1];
    Arena left(a.size()), right(b.size()), output(gaps.size());
    for (std::size_t n = 0; n <= longest; ++n) {
      const std::size_t slacks = test_fully() ? 64 : 3;
      for (std::size_t step = 0; step < slacks; ++step) {
        const std::size_t slack = test_fully() ? step : step == 0 ? 0 : random() % 64;
        const std::size_t other = step == 0 ? 0 : random() % 64;
        const auto place = [&] {
          return std::pair{left.place(a.data(), n * bytes, slack), right.place(b.data(), n * bytes, other)};
        };
        auto [in, inout] = place();
        kernel->reduce2(in, inout, n);
        expect_same(into_b, inout, n, where(unit, "inout = in op inout", slack));
        ASSERT_TRUE(n == 0 || std::memcmp(in, a.data(), n * bytes) == 0) << where(unit, "wrote its input", slack);

        place();
        char* const out = output.place(gaps.data(), n * bytes, random() % 64);
        kernel->reduce3(in, inout, out, n);
        expect_same(into_gaps, out, n, where(unit, "out = a op b", slack));
        kernel->reduce3(in, inout, inout, n);
        expect_same(into_b, inout, n, where(unit, "b = a op b", slack));
        place();
        kernel->reduce3(in, inout, in, n);
        expect_same(into_a, in, n, where(unit, "a = a op b", slack));

        ASSERT_TRUE(left.surroundings_intact() && right.surroundings_intact() && output.surroundings_intact())
            << where(unit, "wrote outside", slack) << " n " << n;
        if (HasFailure()) return;
      }
    }
  }
}

// Kernels may begin a long call at a line of the output, and take several vectors at a time.
TEST_P(Reduce, LongCalls) {
  Random random(test_seed() + kernel_index(op, type));
  const std::size_t longest = 4200 / bytes, shortest = 900 / bytes;
  const auto a = random_elements(type, longest, random), b = random_elements(type, longest, random);
  const auto gaps = random_elements(type, longest, random);
  const auto into_b = oracle({a, b}, b)[1], into_gaps = oracle({a, b}, gaps)[1];
  Arena left(a.size()), right(b.size()), output(gaps.size());
  for (const IsaUnit& unit : isa_units()) {
    const Kernel* const kernel = kernel_to_test(unit);
    if (!kernel) continue;
    for (int round = 0; round < (test_fully() ? 400 : 16); ++round) {
      const std::size_t n = shortest + random() % (longest - shortest + 1);
      // Every other time as an allocator would align them.
      const std::size_t step = round % 2 ? std::min<std::size_t>(bytes, 16) : 1;
      const auto slack = [&] { return random() % 64 / step * step; };
      char* const in = left.place(a.data(), n * bytes, slack());
      char* const inout = right.place(b.data(), n * bytes, slack());
      char* const out = output.place(gaps.data(), n * bytes, slack());
      kernel->reduce3(in, inout, out, n);
      expect_same(into_gaps, out, n, where(unit, "long out = a op b", 0));
      kernel->reduce2(in, inout, n);
      expect_same(into_b, inout, n, where(unit, "long inout = in op inout", 0));
      ASSERT_TRUE(left.surroundings_intact() && right.surroundings_intact() && output.surroundings_intact())
          << where(unit, "wrote outside", 0) << " n " << n;
      if (HasFailure()) return;
    }
  }
}

TEST_P(Reduce, ManyInputs) {
  Random random(test_seed() + kernel_index(op, type));
  for (const IsaUnit& unit : isa_units()) {
    const Kernel* const kernel = kernel_to_test(unit);
    if (!kernel) continue;
    // Long enough for two blocks and a tail.
    const std::size_t longest = 2 * (8192 / bytes) + 13;
    std::vector<std::vector<char>> inputs;
    for (std::size_t k = 0; k < most_inputs; ++k) inputs.push_back(random_elements(type, longest, random));
    const auto gaps = random_elements(type, longest, random);
    const auto want = oracle(inputs, gaps);
    std::vector<std::unique_ptr<Arena>> arenas;
    for (std::size_t k = 0; k <= most_inputs; ++k) arenas.push_back(std::make_unique<Arena>(gaps.size()));
    for (std::size_t count = 1; count <= most_inputs; ++count) {
      for (const std::size_t n : {std::size_t{0}, std::size_t{1}, 1 + random() % 200, longest}) {
        const std::size_t elements = std::min(n, longest);
        std::vector<const void*> pointers;
        for (std::size_t k = 0; k < count; ++k)
          pointers.push_back(arenas[k]->place(inputs[k].data(), elements * bytes, random() % 64));
        Arena& output = *arenas[most_inputs];
        char* const out = output.place(gaps.data(), elements * bytes, random() % 64);
        kernel->reduce_n(pointers.data(), count, out, elements);
        expect_same(want[count - 1], out, elements, where(unit, "n-ary", 0) + " inputs " + std::to_string(count));
        ASSERT_TRUE(output.surroundings_intact()) << unit.name << " wrote outside, inputs " << count;
        if (HasFailure()) return;
      }
    }
  }
}

TEST_P(Reduce, SpecialValues) {
  const Pairing pairing = all_special_pairs(type);
  const auto want = oracle({pairing.a, pairing.b}, pairing.b)[1];
  for (const IsaUnit& unit : isa_units()) {
    const Kernel* const kernel = kernel_to_test(unit);
    if (!kernel) continue;
    // From the start, and shifted by one: every pair meets the vector body and, in one element calls, the tail.
    std::vector<char> inout = pairing.b;
    kernel->reduce2(pairing.a.data(), inout.data(), pairing.elements);
    expect_same(want, inout.data(), pairing.elements, where(unit, "special values, body", 0));
    inout = pairing.b;
    for (std::size_t at = 0; at < inout.size(); at += bytes) kernel->reduce2(&pairing.a[at], &inout[at], 1);
    expect_same(want, inout.data(), pairing.elements, where(unit, "special values, tail", 0));
  }
}

std::string name_of(const testing::TestParamInfo<KernelId>& test) {
  return kernel_name(test.param.op, test.param.type) + std::string(test.param.loops.name);
}

INSTANTIATE_TEST_SUITE_P(Kernel, Reduce, testing::ValuesIn(covered_kernels({as_shipped})), name_of);
#if defined(__x86_64__)
INSTANTIATE_TEST_SUITE_P(LongArrays, Reduce,
                         testing::ValuesIn(covered_kernels({{"_loaded", true, false}, {"_halves", false, true}})),
                         name_of);
#endif

}  // namespace
}  // namespace millrace::kernel::test
