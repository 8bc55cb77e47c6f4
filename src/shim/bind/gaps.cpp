#include "shim/bind/gaps.h"

#include <cstring>

namespace millrace::shim {
namespace {

// Elements of two pieces of data, the first at 0. Sizes that the compiler knows: a call of memcpy for each piece takes
// longer than the reduction.
template <std::size_t first_bytes, std::size_t second_offset = 0, std::size_t second_bytes = 0>
void copy_pieces(const char* from, char* to, std::size_t elements, std::size_t extent_bytes) {
  for (std::size_t i = 0; i < elements; ++i, from += extent_bytes, to += extent_bytes) {
    std::memcpy(to, from, first_bytes);
    if constexpr (second_bytes != 0) std::memcpy(to + second_offset, from + second_offset, second_bytes);
  }
}

using Copy = void (*)(const char*, char*, std::size_t, std::size_t);
// Null: the type has no gaps.
Copy copy_of(kernel::Type type) {
  using kernel::Type;
  switch (type) {
    case Type::f80: return copy_pieces<10>;
    case Type::c80: return copy_pieces<10, 16, 10>;
    case Type::i16_i32: return copy_pieces<2, 4, 4>;
    case Type::i64_i32:
    case Type::f64_i32: return copy_pieces<12>;
    case Type::f80_i32: return copy_pieces<10, 16, 4>;
    case Type::f128_i32: return copy_pieces<20>;
    default: return nullptr;
  }
}

}  // namespace

bool has_gaps(kernel::Type type) { return copy_of(type) != nullptr; }

void copy_without_gaps(kernel::Type type, const void* from, void* to, std::size_t elements) {
  copy_of(type)(static_cast<const char*>(from), static_cast<char*>(to), elements, kernel::type_bytes(type));
}

}  // namespace millrace::shim
