#include "operations.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <mutex>

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

template <class Element>
void greater(const char* in, char* inout) {
  const auto result = std::max(load<Element>(in), load<Element>(inout));
  std::memcpy(inout, &result, sizeof result);
}

void both_true(const char* in, char* inout) {
  const std::int32_t result = load<std::int32_t>(in) != 0 && load<std::int32_t>(inout) != 0;
  std::memcpy(inout, &result, sizeof result);
}

void exclusive_or(const char* in, char* inout) {
  const std::uint64_t result = load<std::uint64_t>(in) ^ load<std::uint64_t>(inout);
  std::memcpy(inout, &result, sizeof result);
}

using Complex = std::array<double, 2>;
void complex_product(const char* in, char* inout) {
  const auto a = load<Complex>(in), b = load<Complex>(inout);
  const Complex product{a[0] * b[0] - a[1] * b[1], a[0] * b[1] + a[1] * b[0]};
  std::memcpy(inout, &product, sizeof product);
}

// Ties go to the lower index (MPI 4.1, 6.9.4).
template <class Value>
struct Pair {
  Value value;
  std::int32_t index;
};
using IntPair = Pair<std::int32_t>;
using FloatPair = Pair<float>;
void lesser_with_index(const char* in, char* inout) {
  const auto a = load<IntPair>(in), b = load<IntPair>(inout);
  if (a.value < b.value || (a.value == b.value && a.index < b.index)) std::memcpy(inout, in, sizeof a);
}
void greater_with_index(const char* in, char* inout) {
  const auto a = load<FloatPair>(in), b = load<FloatPair>(inout);
  if (a.value > b.value || (a.value == b.value && a.index < b.index)) std::memcpy(inout, in, sizeof a);
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
Reducer user_reducer(bool commutative = false) {
  Reducer reducer;
  reducer.element_bytes = element_bytes;
  reducer.commutative = commutative;
  reducer.user = as_user_function<apply, element_bytes>;
  return reducer;
}

std::uint64_t mix(std::uint64_t value) {  // splitmix64
  value += 0x9e3779b97f4a7c15u;
  value = (value ^ value >> 30) * 0xbf58476d1ce4e5b9u;
  value = (value ^ value >> 27) * 0x94d049bb133111ebu;
  return value ^ value >> 31;
}

// A value of `Real` between -1000 and 1000 with many digits.
template <class Real>
void fill_real(std::uint64_t random, char* to) {
  const auto value = static_cast<Real>(static_cast<double>(random % 2000000003) * 1e-6 - 1000);
  std::memcpy(to, &value, sizeof value);
}

void fill_bytes(std::size_t count, std::uint64_t random, char* to) {
  for (std::size_t byte = 0; byte < count; ++byte)
    to[byte] = static_cast<char>(mix(random + byte / 8) >> (byte % 8 * 8));
}

void fill_element(const Operation& operation, std::uint64_t random, char* to) {
  if (operation.apply == add<float>) return fill_real<float>(random, to);
  if (operation.apply == add<double> || operation.apply == greater<double>) return fill_real<double>(random, to);
  fill_bytes(operation.element_bytes, random, to);
  if (operation.apply == both_true && random % 5 == 0) std::memset(to, 0, sizeof(std::int32_t));
  if (operation.apply == complex_product) {  // of about 1, so that no product of many leaves the range
    const Complex value{static_cast<double>(random % 1001) * 1e-3 + 0.5, static_cast<double>(random % 997) * 1e-3};
    std::memcpy(to, &value, sizeof value);
  }
  if (operation.apply == lesser_with_index) {  // few values, many ties
    const IntPair value{static_cast<std::int32_t>(random % 3), static_cast<std::int32_t>(random >> 40)};
    std::memcpy(to, &value, sizeof value);
  }
  if (operation.apply == greater_with_index) {
    const FloatPair value{static_cast<float>(random % 3) / 3, static_cast<std::int32_t>(random >> 40)};
    std::memcpy(to, &value, sizeof value);
  }
}

// ---- the data: `period` elements of each rank and their left folds, of which every call takes a piece ----

constexpr std::size_t period = 4093;  // a prime: no distance between pieces of a message is a multiple

struct Data {
  std::once_flag made;
  std::vector<char> of_rank[most_data_ranks], fold_to[most_data_ranks];  // fold_to[r]: of ranks 0 .. r
};

const Data& data_of(const Operation& operation) {
  static std::array<Data, 16> all;
  const auto index = static_cast<std::size_t>(&operation - operations().data());
  Data& data = all.at(index);
  std::call_once(data.made, [&] {
    for (std::uint32_t rank = 0; rank < most_data_ranks; ++rank) {
      std::vector<char>& own = data.of_rank[rank];
      own.resize(period * operation.element_bytes);
      for (std::size_t at = 0; at < period; ++at)
        fill_element(operation, mix((index * most_data_ranks + rank) * period + at) >> 7,
                     own.data() + at * operation.element_bytes);
      data.fold_to[rank] = own;
      for (std::size_t at = 0; rank != 0 && at < own.size(); at += operation.element_bytes)
        operation.apply(data.fold_to[rank - 1].data() + at, data.fold_to[rank].data() + at);
    }
  });
  return data;
}

// `elements` of `data`, from a place on that depends on `number`.
std::vector<char> piece(const std::vector<char>& data, std::size_t element_bytes, std::size_t elements,
                        std::uint64_t number) {
  std::vector<char> result(elements * element_bytes);
  std::size_t from = mix(number) % period * element_bytes;
  for (std::size_t at = 0; at < result.size(); from = 0) {
    const std::size_t bytes = std::min(result.size() - at, data.size() - from);
    std::memcpy(result.data() + at, data.data() + from, bytes);
    at += bytes;
  }
  return result;
}

}  // namespace

std::span<const Operation> operations() {
  using kernel::Op;
  using kernel::Type;
  static const std::array<Operation, 13> all{{
      {"sum_u8", 1, kernel_reducer(Op::sum, Type::u8), add<std::uint8_t>, true},
      {"sum_f32", 4, kernel_reducer(Op::sum, Type::f32), add<float>, false},
      {"sum_f64", 8, kernel_reducer(Op::sum, Type::f64), add<double>, false},
      {"max_i32", 4, kernel_reducer(Op::max, Type::i32), greater<std::int32_t>, true},
      {"matrix", 32, user_reducer<multiply, 32>(), multiply, false},
      {"affine", 24, user_reducer<compose, 24>(), compose, false},
      {"land_i32", 4, kernel_reducer(Op::land, Type::i32), both_true, true},
      {"bxor_u64", 8, kernel_reducer(Op::bxor, Type::u64), exclusive_or, true},
      {"prod_c64", 16, kernel_reducer(Op::prod, Type::c64), complex_product, false},
      {"max_f64", 8, kernel_reducer(Op::max, Type::f64), greater<double>, true},
      {"minloc_i32_i32", 8, kernel_reducer(Op::minloc, Type::i32_i32), lesser_with_index, true},
      {"maxloc_f32_i32", 8, kernel_reducer(Op::maxloc, Type::f32_i32), greater_with_index, true},
      {"user_bxor", 8, user_reducer<exclusive_or, 8>(true), exclusive_or, true},
  }};
  return all;
}

void prepare_operations() {
  for (const Operation& operation : operations()) data_of(operation);
}

std::vector<char> contribution(const Operation& operation, std::uint32_t rank, std::size_t elements,
                               std::uint64_t number) {
  return piece(data_of(operation).of_rank[rank], operation.element_bytes, elements, number);
}

std::vector<char> left_fold(const Operation& operation, std::uint32_t ranks, std::size_t elements,
                            std::uint64_t number) {
  return piece(data_of(operation).fold_to[ranks - 1], operation.element_bytes, elements, number);
}

}  // namespace millrace::collective::test
