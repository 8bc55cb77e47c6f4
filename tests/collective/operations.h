// Reductions to test with, each with a serial left fold written independently of src/.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "collective/reducer.h"

namespace millrace::collective::test {

struct Operation {
  const char* name;
  std::size_t element_bytes;
  Reducer reducer;
  void (*apply)(const char* in, char* inout);  // one element: inout = in op inout
  bool any_order;                              // the result has the same bits in whatever order it is computed
};

// Sums of u8, f32, f64 (whose bits depend on the order), max of i32, u64 products of 2 x 2 matrices by a user's
// function (not commutative, 32 bytes) and of affine maps of 3 numbers (24 bytes: no power of two); then one of each
// other class of ops and types: logical, bitwise, complex, pairs, a user's commutative one.
std::span<const Operation> operations();

// The most ranks that there is data for.
inline constexpr std::uint32_t most_data_ranks = 16;

// Makes the data of all operations, which otherwise each process makes when it first needs it: before ranks are forked.
void prepare_operations();

// What `rank` contributes to the reduction called `number`. Repeats itself after a prime number of elements, and starts
// elsewhere for another number.
std::vector<char> contribution(const Operation& operation, std::uint32_t rank, std::size_t elements,
                               std::uint64_t number);
// The left fold in rank order of all contributions.
std::vector<char> left_fold(const Operation& operation, std::uint32_t ranks, std::size_t elements,
                            std::uint64_t number);

}  // namespace millrace::collective::test
