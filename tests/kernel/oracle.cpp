#include "oracle.h"

#include <cmath>
#include <cstdint>
#include <cstring>
#include <vector>

#include "element.h"

namespace millrace::kernel::test {
namespace {

using Bits = unsigned __int128;
#if defined(__x86_64__)
using Quad = __float128;
#else
using Quad = long double;
#endif

template <class T>
T load(const void* from) {
  T value;
  std::memcpy(&value, from, sizeof value);
  return value;
}

Bits bits(const void* from, std::size_t bytes) {
  Bits value = 0;
  std::memcpy(&value, from, bytes);
  return value;
}

// ---- 16-bit floats from their definition: sign, exponent, fraction

struct Format16 {
  int fraction_bits, bias, largest_exponent;
};
constexpr Format16 half{10, 15, 15}, brain{7, 127, 127};

float decode(std::uint16_t code, Format16 format) {
  const int exponent_field = (code & 0x7fff) >> format.fraction_bits;
  const int fraction = code & ((1 << format.fraction_bits) - 1);
  const float sign = code & 0x8000 ? -1.0f : 1.0f;
  if (exponent_field == format.largest_exponent + format.bias + 1) return fraction ? std::nanf("") : sign * INFINITY;
  if (exponent_field == 0)
    return sign * std::ldexp(static_cast<float>(fraction), 1 - format.bias - format.fraction_bits);
  return sign * std::ldexp(static_cast<float>(fraction + (1 << format.fraction_bits)),
                           exponent_field - format.bias - format.fraction_bits);
}

std::uint16_t encode(float value, Format16 format) {
  const int sign = std::signbit(value) ? 0x8000 : 0;
  const int infinity = (format.largest_exponent + format.bias + 1) << format.fraction_bits;
  if (std::isnan(value)) return static_cast<std::uint16_t>(sign | infinity | (1 << (format.fraction_bits - 1)));
  if (std::isinf(value)) return static_cast<std::uint16_t>(sign | infinity);
  const double magnitude = std::fabs(static_cast<double>(value));
  int exponent = magnitude == 0 ? 1 - format.bias : std::max(std::ilogb(magnitude), 1 - format.bias);
  // In units of the last place; nearbyint rounds to nearest, ties to even.
  double units = std::nearbyint(std::ldexp(magnitude, format.fraction_bits - exponent));
  if (units >= std::ldexp(1.0, format.fraction_bits + 1)) {
    units /= 2;
    ++exponent;
  }
  if (exponent > format.largest_exponent) return static_cast<std::uint16_t>(sign | infinity);
  const int hidden = 1 << format.fraction_bits;
  const int whole = static_cast<int>(units);
  if (whole < hidden) return static_cast<std::uint16_t>(sign | whole);
  return static_cast<std::uint16_t>(sign | ((exponent + format.bias) << format.fraction_bits) | (whole - hidden));
}

// ---- any scalar as a wide number

Quad number(const void* from, Type scalar) {
  switch (scalar) {
    case Type::f16: return decode(load<std::uint16_t>(from), half);
    case Type::bf16: return decode(load<std::uint16_t>(from), brain);
    case Type::f32: return load<float>(from);
    case Type::f64: return load<double>(from);
    case Type::f128: return load<Quad>(from);
    default: {
      long double value = 0;  // f80
      std::memcpy(&value, from, 10);
      return value;
    }
  }
}

__int128 integer(const void* from, const Field& field) {
  const unsigned unused_bits = static_cast<unsigned>(128 - 8 * field.bytes);
  const Bits raw = bits(from, field.bytes) << unused_bits;
  return is_signed(field.scalar) ? static_cast<__int128>(raw) >> unused_bits
                                 : static_cast<__int128>(raw >> unused_bits);
}

bool is_float(const Field& field) { return type_class(field.scalar) == TypeClass::floating; }
bool is_nan(const void* at, const Field& field) {
  if (!is_float(field)) return false;
  const Quad value = number(at, field.scalar);
  return value != value;
}
bool less(const void* a, const void* b, const Field& field) {
  if (is_float(field)) return number(a, field.scalar) < number(b, field.scalar);
  return integer(a, field) < integer(b, field);
}

// ---- ops

template <class T>
T calculate(Op op, T a, T b) {
  return op == Op::sum ? a + b : a * b;
}

template <class T>
void complex_product(const void* a, const void* b, void* out, std::size_t part_bytes, T (*get)(const void*),
                     void (*put)(T, void*)) {
  const char *left = static_cast<const char*>(a), *right = static_cast<const char*>(b);
  const T ar = get(left), ai = get(left + part_bytes), br = get(right), bi = get(right + part_bytes);
  const T rr = ar * br, ii = ai * bi, ri = ar * bi, ir = ai * br;  // each rounded by itself
  put(rr - ii, out);
  put(ri + ir, static_cast<char*>(out) + part_bytes);
}
template <class T>
void put_value(T value, void* to) {
  std::memcpy(to, &value, sizeof value);
}
float get_half(const void* from) { return decode(load<std::uint16_t>(from), half); }
void put_half(float value, void* to) { put_value(encode(value, half), to); }
long double get_extended(const void* from) {
  long double value = 0;
  std::memcpy(&value, from, 10);
  return value;
}
void put_extended(long double value, void* to) { std::memcpy(to, &value, 10); }

void arithmetic(Op op, const Field& field, const void* a, const void* b, void* out) {
  switch (field.scalar) {
    case Type::f16: return put_half(calculate(op, get_half(a), get_half(b)), out);
    case Type::bf16:
      return put_value(
          encode(calculate(op, decode(load<std::uint16_t>(a), brain), decode(load<std::uint16_t>(b), brain)), brain),
          out);
    case Type::f32: return put_value(calculate(op, load<float>(a), load<float>(b)), out);
    case Type::f64: return put_value(calculate(op, load<double>(a), load<double>(b)), out);
    case Type::f80: return put_extended(calculate(op, get_extended(a), get_extended(b)), out);
    case Type::f128: return put_value(calculate(op, load<Quad>(a), load<Quad>(b)), out);
    default: {
      const Bits value = calculate(op, bits(a, field.bytes), bits(b, field.bytes));
      std::memcpy(out, &value, field.bytes);
    }
  }
}

void complex_prod(Type type, const void* a, const void* b, void* out) {
  switch (type) {
    case Type::c16: return complex_product<float>(a, b, out, 2, get_half, put_half);
    case Type::c32: return complex_product<float>(a, b, out, 4, load<float>, put_value<float>);
    case Type::c64: return complex_product<double>(a, b, out, 8, load<double>, put_value<double>);
    case Type::c80: return complex_product<long double>(a, b, out, 16, get_extended, put_extended);
    default: return complex_product<Quad>(a, b, out, 16, load<Quad>, put_value<Quad>);
  }
}

bool takes_left(bool greatest, const Field& field, const void* a, const void* b) {
  if (is_nan(a, field)) return true;
  if (is_nan(b, field)) return false;
  return greatest ? less(b, a, field) : less(a, b, field);
}

bool takes_left_pair(bool greatest, const std::vector<Field>& pair, const char* a, const char* b) {
  const Field& value = pair[0];
  const bool a_nan = is_nan(a, value), b_nan = is_nan(b, value);
  if (a_nan != b_nan) return a_nan;
  if (!a_nan && less(b, a, value)) return greatest;
  if (!a_nan && less(a, b, value)) return !greatest;
  return less(a + pair[1].offset_bytes, b + pair[1].offset_bytes, pair[1]);
}

Bits combine(Op op, Bits a, Bits b) {
  switch (op) {
    case Op::land: return a && b ? 1 : 0;
    case Op::lor: return a || b ? 1 : 0;
    case Op::lxor: return !a != !b ? 1 : 0;
    case Op::band: return a & b;
    case Op::bor: return a | b;
    default: return a ^ b;
  }
}

void copy_fields(const std::vector<Field>& list, const void* from, void* to) {
  for (const Field& field : list)
    std::memmove(static_cast<char*>(to) + field.offset_bytes, static_cast<const char*>(from) + field.offset_bytes,
                 field.bytes);
}

}  // namespace

void naive_apply(Op op, Type type, const void* a, const void* b, void* out) {
  const std::vector<Field> list = fields(type);
  const char *left = static_cast<const char*>(a), *right = static_cast<const char*>(b);
  switch (op) {
    case Op::sum:
    case Op::prod:
      if (op == Op::prod && list.size() == 2) return complex_prod(type, a, b, out);
      for (const Field& field : list)
        arithmetic(op, field, left + field.offset_bytes, right + field.offset_bytes,
                   static_cast<char*>(out) + field.offset_bytes);
      return;
    case Op::max:
    case Op::min: return copy_fields(list, takes_left(op == Op::max, list[0], a, b) ? a : b, out);
    case Op::maxloc:
    case Op::minloc: return copy_fields(list, takes_left_pair(op == Op::maxloc, list, left, right) ? a : b, out);
    default: {
      const Bits value = combine(op, bits(a, list[0].bytes), bits(b, list[0].bytes));
      std::memcpy(out, &value, list[0].bytes);
    }
  }
}

bool same_element(Op op, Type type, const void* left, const void* right) {
  if (std::memcmp(left, right, type_bytes(type)) == 0) return true;
  if (op != Op::sum && op != Op::prod) return false;
  std::vector<char> patched(static_cast<const char*>(right), static_cast<const char*>(right) + type_bytes(type));
  for (const Field& field : fields(type)) {
    const char* mine = static_cast<const char*>(left) + field.offset_bytes;
    char* other = patched.data() + field.offset_bytes;
    if (is_nan(mine, field) && is_nan(other, field)) std::memcpy(other, mine, field.bytes);
  }
  return std::memcmp(left, patched.data(), patched.size()) == 0;
}

}  // namespace millrace::kernel::test
