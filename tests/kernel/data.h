// Input for kernels: random bits, ties, and the values at which implementations differ.
#pragma once

#include <cstddef>
#include <cstdint>
#include <random>
#include <vector>

#include "kernel/types.h"

namespace millrace::kernel::test {

using Random = std::mt19937_64;

// MILLRACE_TEST_SEED, or a fixed seed; printed by whoever fails.
std::uint64_t test_seed();
// MILLRACE_TEST_FULL=1: every misalignment at every length, instead of a sample.
bool test_fully();

// `elements` elements, gap bytes random too. About a third are special values, a third small numbers that tie.
std::vector<char> random_elements(Type type, std::size_t elements, Random& random);

// Every special value of one field against every other: `count` x `count` elements in two arrays.
struct Pairing {
  std::vector<char> a, b;
  std::size_t elements;
};
Pairing all_special_pairs(Type type);

}  // namespace millrace::kernel::test
