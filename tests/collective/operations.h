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
  bool any_order;                              // a commutative op of integers
};

// u8 sum, f32 sum, f64 sum (whose bits depend on the order), i32 max, u64 products of 2 x 2 matrices by a user's
// function (not commutative, 32 bytes) and of affine maps of 3 numbers (24 bytes: no power of two).
std::span<const Operation> operations();

// What `rank` contributes to the reduction called `number`.
std::vector<char> contribution(const Operation& operation, std::uint32_t rank, std::size_t elements,
                               std::uint64_t number);
// The left fold in rank order of all contributions.
std::vector<char> left_fold(const Operation& operation, std::uint32_t ranks, std::size_t elements,
                            std::uint64_t number);

}  // namespace millrace::collective::test
