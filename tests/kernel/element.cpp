#include "element.h"

namespace millrace::kernel::test {
namespace {

std::size_t value_bytes(Type scalar) { return scalar == Type::f80 ? 10 : type_bytes(scalar); }

std::vector<Field> two(Type first, Type second, std::size_t second_offset) {
  return {{0, value_bytes(first), first}, {second_offset, value_bytes(second), second}};
}

}  // namespace

std::vector<Field> fields(Type type) {
  switch (type) {
    case Type::c16: return two(Type::f16, Type::f16, 2);
    case Type::c32: return two(Type::f32, Type::f32, 4);
    case Type::c64: return two(Type::f64, Type::f64, 8);
    case Type::c80: return two(Type::f80, Type::f80, 16);
    case Type::c128: return two(Type::f128, Type::f128, 16);
    case Type::bool8:
    case Type::l8: return {{0, 1, Type::u8}};
    case Type::l16: return {{0, 2, Type::u16}};
    case Type::l32: return {{0, 4, Type::u32}};
    case Type::l64: return {{0, 8, Type::u64}};
    case Type::l128: return {{0, 16, Type::i128}};
    case Type::i16_i32: return two(Type::i16, Type::i32, 4);
    case Type::i32_i32: return two(Type::i32, Type::i32, 4);
    case Type::i64_i32: return two(Type::i64, Type::i32, 8);
    case Type::i64_i64: return two(Type::i64, Type::i64, 8);
    case Type::f32_i32: return two(Type::f32, Type::i32, 4);
    case Type::f32_f32: return two(Type::f32, Type::f32, 4);
    case Type::f64_i32: return two(Type::f64, Type::i32, 8);
    case Type::f64_f64: return two(Type::f64, Type::f64, 8);
    case Type::f80_i32: return two(Type::f80, Type::i32, 16);
    case Type::f128_i32: return two(Type::f128, Type::i32, 16);
    default: return {{0, value_bytes(type), type}};
  }
}

bool is_signed(Type scalar) {
  return scalar != Type::u8 && scalar != Type::u16 && scalar != Type::u32 && scalar != Type::u64;
}

}  // namespace millrace::kernel::test
