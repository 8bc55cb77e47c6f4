// What half as wide vectors do faster where the processor takes the widest ones in two steps: Zen 4, AVX2 before
// AVX-512. Loads and stores gain nothing by their width there, and memory gives more to two halves than to a whole
// (docs/results/reductions.md). What needs an instruction that only AVX-512 has stays with it.
#pragma once

#include "kernel/types.h"

namespace millrace::kernel {

constexpr bool narrower_is_faster(Op op, Type type) {
  const bool is_integer = type <= Type::u64 && type != Type::i128;
  const bool is_number = is_integer || type == Type::f32 || type == Type::f64 || type == Type::c32 || type == Type::c64;
  const bool has_wide_product_only = type == Type::i8 || type == Type::u8 || type == Type::i64 || type == Type::u64;
  if (!is_number) return false;
  switch (op) {
    case Op::sum:
    case Op::band:
    case Op::bor:
    case Op::bxor: return true;
    case Op::prod: return !has_wide_product_only;
    case Op::max:
    case Op::min: return type != Type::u64;
    default: return false;
  }
}

}  // namespace millrace::kernel
