#include "shim/bind/gaps.h"

#include <cstring>

namespace millrace::shim {
namespace {

// Two pieces of data: the first at 0, the second at `second_offset`.
struct Pieces {
  std::size_t first_bytes, second_offset, second_bytes;
};

Pieces pieces_of(kernel::Type type) {
  using kernel::Type;
  switch (type) {
    case Type::f80: return {10, 0, 0};
    case Type::c80: return {10, 16, 10};
    case Type::i16_i32: return {2, 4, 4};
    case Type::i64_i32:
    case Type::f64_i32: return {8, 8, 4};
    case Type::f80_i32: return {10, 16, 4};
    case Type::f128_i32: return {16, 16, 4};
    default: return {0, 0, 0};
  }
}

}  // namespace

bool has_gaps(kernel::Type type) { return pieces_of(type).first_bytes != 0; }

void copy_without_gaps(kernel::Type type, const void* from, void* to, std::size_t elements) {
  const Pieces pieces = pieces_of(type);
  const std::size_t extent_bytes = kernel::type_bytes(type);
  const auto* source = static_cast<const char*>(from);
  auto* target = static_cast<char*>(to);
  for (std::size_t i = 0; i < elements; ++i, source += extent_bytes, target += extent_bytes) {
    std::memcpy(target, source, pieces.first_bytes);
    std::memcpy(target + pieces.second_offset, source + pieces.second_offset, pieces.second_bytes);
  }
}

}  // namespace millrace::shim
