#include "operations.h"

#include <algorithm>
#include <array>
#include <cstring>

namespace millrace::collective::test {
namespace {

template <class Element>
Element load(const char* from) {
  Element element;
  std::memcpy(&element, from, sizeof element);
  return element;
}

template <class Element>
void add(const char* in, char* inout) {
  const auto result = static_cast<Element>(load<Element>(in) + load<Element>(inout));
  std::memcpy(inout, &result, sizeof result);
}

void greater(const char* in, char* inout) {
  const auto result = std::max(load<std::int32_t>(in), load<std::int32_t>(inout));
  std::memcpy(inout, &result, sizeof result);
}

using Matrix = std::array<std::uint64_t, 4>;
void multiply(const char* in, char* inout) {
  const auto a = load<Matrix>(in), b = load<Matrix>(inout);
  const Matrix product{a[0] * b[0] + a[1] * b[2], a[0] * b[1] + a[1] * b[3], a[2] * b[0] + a[3] * b[2],
                       a[2] * b[1] + a[3] * b[3]};
  std::memcpy(inout, &product, sizeof product);
}

using Affine = std::array<std::uint64_t, 3>;  // x -> scale * x + shift, and a count of how many were composed
void compose(const char* in, char* inout) {
  const auto a = load<Affine>(in), b = load<Affine>(inout);
  const Affine both{a[0] * b[0], b[0] * a[1] + b[1], a[2] + b[2]};
  std::memcpy(inout, &both, sizeof both);
}

template <void (*apply)(const char*, char*), std::size_t element_bytes>
void as_user_function(void*, const void* in, void* inout, std::size_t elements) {
  for (std::size_t index = 0; index < elements; ++index)
    apply(static_cast<const char*>(in) + index * element_bytes, static_cast<char*>(inout) + index * element_bytes);
}

template <void (*apply)(const char*, char*), std::size_t element_bytes>
Reducer user_reducer() {
  Reducer reducer;
  reducer.element_bytes = element_bytes;
  reducer.commutative = false;
  reducer.user = as_user_function<apply, element_bytes>;
  return reducer;
}

std::uint64_t mix(std::uint64_t value) {  // splitmix64
  value += 0x9e3779b97f4a7c15u;
  value = (value ^ value >> 30) * 0xbf58476d1ce4e5b9u;
  value = (value ^ value >> 27) * 0x94d049bb133111ebu;
  return value ^ value >> 31;
}

void fill_element(const Operation& operation, std::uint64_t random, char* to) {
  if (operation.apply == add<float>) {
    const float value = static_cast<float>(random % 2000003) * 1e-3F - 1000;
    std::memcpy(to, &value, sizeof value);
  } else if (operation.apply == add<double>) {
    const double value = static_cast<double>(random % 2000000000003) * 1e-6 - 1e6;
    std::memcpy(to, &value, sizeof value);
  } else {
    for (std::size_t byte = 0; byte < operation.element_bytes; ++byte)
      to[byte] = static_cast<char>(mix(random + byte / 8) >> (byte % 8 * 8));
  }
}

}  // namespace

std::span<const Operation> operations() {
  using kernel::Op;
  using kernel::Type;
  static const std::array<Operation, 6> all{{
      {"sum_u8", 1, kernel_reducer(Op::sum, Type::u8), add<std::uint8_t>, true},
      {"sum_f32", 4, kernel_reducer(Op::sum, Type::f32), add<float>, false},
      {"sum_f64", 8, kernel_reducer(Op::sum, Type::f64), add<double>, false},
      {"max_i32", 4, kernel_reducer(Op::max, Type::i32), greater, true},
      {"matrix", 32, user_reducer<multiply, 32>(), multiply, false},
      {"affine", 24, user_reducer<compose, 24>(), compose, false},
  }};
  return all;
}

std::vector<char> contribution(const Operation& operation, std::uint32_t rank, std::size_t elements,
                               std::uint64_t number) {
  std::vector<char> data(elements * operation.element_bytes);
  std::uint64_t state = mix(number * 1024 + rank);
  for (std::size_t index = 0; index < elements; ++index) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    fill_element(operation, state >> 7, data.data() + index * operation.element_bytes);
  }
  return data;
}

std::vector<char> left_fold(const Operation& operation, std::uint32_t ranks, std::size_t elements,
                            std::uint64_t number) {
  std::vector<char> folded = contribution(operation, 0, elements, number);
  for (std::uint32_t rank = 1; rank < ranks; ++rank) {
    std::vector<char> next = contribution(operation, rank, elements, number);
    for (std::size_t at = 0; at < folded.size(); at += operation.element_bytes)
      operation.apply(folded.data() + at, next.data() + at);
    folded.swap(next);
  }
  return folded;
}

}  // namespace millrace::collective::test
