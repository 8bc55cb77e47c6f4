// Arithmetic on sizes and displacements that ends the compilation when 64 bits do not suffice.
#pragma once

#include <cstdint>

#include "base/status.h"

namespace millrace::layout {

// Thrown inside the compiler only: compile() turns it into its status.
struct Failure {
  Status status;
};

inline std::int64_t plus(std::int64_t a, std::int64_t b) {
  std::int64_t sum;
  if (__builtin_add_overflow(a, b, &sum)) throw Failure{Status::not_supported};
  return sum;
}
inline std::int64_t minus(std::int64_t a, std::int64_t b) {
  std::int64_t difference;
  if (__builtin_sub_overflow(a, b, &difference)) throw Failure{Status::not_supported};
  return difference;
}
inline std::int64_t times(std::int64_t a, std::int64_t b) {
  std::int64_t product;
  if (__builtin_mul_overflow(a, b, &product)) throw Failure{Status::not_supported};
  return product;
}
inline void require(bool condition) {
  if (!condition) throw Failure{Status::bad_argument};
}

}  // namespace millrace::layout
