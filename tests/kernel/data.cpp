#include "data.h"

#include <cmath>
#include <cstdlib>
#include <cstring>

#include "element.h"

namespace millrace::kernel::test {
namespace {

using Value = std::vector<char>;

// By reference: an array must not decay to a pointer.
template <class T>
Value raw(const T& value, std::size_t bytes = sizeof(T)) {
  Value result(bytes);
  std::memcpy(result.data(), &value, bytes);
  return result;
}

std::vector<Value> with_signs(const std::vector<std::uint64_t>& magnitudes, std::size_t bytes) {
  std::vector<Value> values;
  const std::uint64_t sign = std::uint64_t{1} << (8 * bytes - 1);
  for (const std::uint64_t magnitude : magnitudes) {
    values.push_back(raw(magnitude, bytes));
    values.push_back(raw(magnitude | sign, bytes));
  }
  return values;
}

// Zero, subnormals, the smallest and the largest normal, one and its neighbour, infinity, a quiet and a signalling NaN.
std::vector<Value> special_floats(Type scalar) {
  switch (scalar) {
    case Type::f16:
      return with_signs(
          {0, 1, 0x3ff, 0x400, 0x401, 0x1400, 0x3bff, 0x3c00, 0x3c01, 0x6800, 0x7bff, 0x7c00, 0x7e01, 0x7c01}, 2);
    case Type::bf16:
      return with_signs({0, 1, 0x7f, 0x80, 0x81, 0x1f80, 0x3f7f, 0x3f80, 0x3f81, 0x7f7f, 0x7f80, 0x7fc1, 0x7f81}, 2);
    case Type::f32:
      return with_signs({0, 1, 0x7fffff, 0x800000, 0x800001, 0x1f800000, 0x3f7fffff, 0x3f800000, 0x3f800001, 0x5f000000,
                         0x7f7fffff, 0x7f800000, 0x7fc00001, 0x7f800001},
                        4);
    case Type::f64:
      return with_signs({0, 1, 0xfffffffffffff, 0x10000000000000, 0x10000000000001, 0x1ff0000000000000,
                         0x3fefffffffffffff, 0x3ff0000000000000, 0x3ff0000000000001, 0x5fe0000000000000,
                         0x7fefffffffffffff, 0x7ff0000000000000, 0x7ff8000000000001, 0x7ff0000000000001},
                        8);
    default: {
      std::vector<Value> values;
      for (const double value : {0.0, 0x1p-1074, 0x1p-1022, 1.0, 1 + 0x1p-52, 0x1p600, 0x1.fffffffffffffp1023,
                                 static_cast<double>(INFINITY), static_cast<double>(NAN)}) {
        for (const double signed_value : {value, -value}) {
#if defined(__x86_64__)
          if (scalar == Type::f80)
            values.push_back(raw(static_cast<long double>(signed_value), 10));
          else
            values.push_back(raw(static_cast<__float128>(signed_value)));
#else
          values.push_back(raw(static_cast<long double>(signed_value)));
#endif
        }
      }
      return values;
    }
  }
}

std::vector<Value> special_integers(const Field& field) {
  std::vector<Value> values;
  const unsigned __int128 top = static_cast<unsigned __int128>(1) << (8 * field.bytes - 1);
  for (const unsigned __int128 value :
       {static_cast<unsigned __int128>(0), static_cast<unsigned __int128>(1), static_cast<unsigned __int128>(2),
        top - 1, top, top + 1, ~top, ~static_cast<unsigned __int128>(0), ~static_cast<unsigned __int128>(1)})
    values.push_back(raw(value, field.bytes));
  return values;
}

std::vector<Value> special_values(const Field& field) {
  return type_class(field.scalar) == TypeClass::floating ? special_floats(field.scalar) : special_integers(field);
}

Value small_number(const Field& field, Random& random) {
  const int value = static_cast<int>(random() % 5) - 2;
  switch (field.scalar) {
    case Type::f16: {
      const std::uint16_t codes[] = {0xc000, 0xbc00, 0x0000, 0x3c00, 0x4000};
      return raw(codes[value + 2]);
    }
    case Type::bf16: {
      const std::uint16_t codes[] = {0xc000, 0xbf80, 0x0000, 0x3f80, 0x4000};
      return raw(codes[value + 2]);
    }
    case Type::f32: return raw(static_cast<float>(value));
    case Type::f64: return raw(static_cast<double>(value));
    case Type::f80: return raw(static_cast<long double>(value), 10);
#if defined(__x86_64__)
    case Type::f128: return raw(static_cast<__float128>(value));
#else
    case Type::f128: return raw(static_cast<long double>(value));
#endif
    default: return raw(static_cast<__int128>(value), field.bytes);
  }
}

Value random_bits(const Field& field, Random& random) {
  const std::uint64_t words[2] = {random(), random()};
  if (field.scalar != Type::f80) return raw(words, field.bytes);
  // Arbitrary bits are mostly not a number of this format: the explicit leading bit must fit the exponent.
  const long double fraction = static_cast<long double>(words[0]) * 0x1p-64L + 1;
  const int exponent = static_cast<int>(words[1] % 400) - 200;
  const long double value = __builtin_ldexpl(words[1] >> 63 ? -fraction : fraction, exponent);
  return raw(value, 10);
}

std::uint64_t environment_number(const char* name, std::uint64_t standard) {
  const char* text = std::getenv(name);
  return text && *text ? std::strtoull(text, nullptr, 0) : standard;
}

}  // namespace

std::uint64_t test_seed() { return environment_number("MILLRACE_TEST_SEED", 20261121); }
bool test_fully() { return environment_number("MILLRACE_TEST_FULL", 0) != 0; }

std::vector<char> random_elements(Type type, std::size_t elements, Random& random) {
  std::vector<char> buffer(elements * type_bytes(type));
  for (char& byte : buffer) byte = static_cast<char>(random());
  for (const Field& field : fields(type)) {
    const std::vector<Value> specials = special_values(field);
    for (std::size_t i = 0; i < elements; ++i) {
      const std::uint64_t kind = random() % 3;
      const Value value = kind == 0   ? specials[random() % specials.size()]
                          : kind == 1 ? small_number(field, random)
                                      : random_bits(field, random);
      std::memcpy(buffer.data() + i * type_bytes(type) + field.offset_bytes, value.data(), field.bytes);
    }
  }
  return buffer;
}

Pairing all_special_pairs(Type type) {
  const std::vector<Field> list = fields(type);
  // The elements to pair: each special value in the first field, with a few in the second.
  std::vector<Value> values;
  for (const Value& first : special_values(list[0])) {
    std::vector<Value> seconds{{}};
    if (list.size() == 2) seconds = special_values(list[1]);
    if (seconds.size() > 9) seconds.resize(9);
    for (const Value& second : seconds) {
      Value element(type_bytes(type), 0);
      std::memcpy(element.data(), first.data(), first.size());
      if (!second.empty()) std::memcpy(element.data() + list[1].offset_bytes, second.data(), second.size());
      values.push_back(element);
    }
  }
  Pairing result{{}, {}, values.size() * values.size()};
  for (const Value& a : values) {
    for (const Value& b : values) {
      result.a.insert(result.a.end(), a.begin(), a.end());
      result.b.insert(result.b.end(), b.begin(), b.end());
    }
  }
  return result;
}

}  // namespace millrace::kernel::test
