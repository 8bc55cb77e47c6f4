// MINLOC and MAXLOC on {value, index}. The better value wins; of equal values (and of NaNs, which beat everything) the
// lower index; of equal indices the right operand. Members are stored one by one: gap bytes are not ours.
#pragma once

#include "kernel/reduce/generic/loops.h"

namespace millrace::kernel {
namespace {

template <class V, class I>
struct Pair {
  V value;
  I index;
};

template <class V, class I, bool Greater>
struct Location {
  using Value = V;
  using Index = I;
  // No && and ||: values are as good as random, a branch would be mispredicted.
  static bool left_wins(V a, I a_index, V b, I b_index) {
    const bool a_is_nan = a != a;  // NOLINT(misc-redundant-expression)
    const bool b_is_nan = b != b;  // NOLINT(misc-redundant-expression)
    const bool better = Greater ? a > b : a < b;
    const bool tie = (a == b) | (a_is_nan & b_is_nan);
    return better | (a_is_nan & !b_is_nan) | (tie & (a_index < b_index));
  }
};

template <class F>
struct Pairwise {
  using V = typename F::Value;
  using I = typename F::Index;
  using Layout = Pair<V, I>;
  static constexpr std::size_t bytes = sizeof(Layout);
  static constexpr std::size_t index_offset = offsetof(Layout, index);

  static V value_at(const void* buffer, std::size_t i) {
    return cells<V>(static_cast<const char*>(buffer) + i * bytes)->value;
  }
  static I index_at(const void* buffer, std::size_t i) {
    return cells<I>(static_cast<const char*>(buffer) + i * bytes + index_offset)->value;
  }
  static void store(void* buffer, std::size_t i, V value, I index) {
    char* const at = static_cast<char*>(buffer) + i * bytes;
    cells<V>(at)->value = value;
    cells<I>(at + index_offset)->value = index;
  }

  static void combine(V& value, I& index, V b_value, I b_index) {
    const bool left = F::left_wins(value, index, b_value, b_index);
    value = left ? value : b_value;
    index = left ? index : b_index;
  }

  template <class... Rest>
  static void fold(void* out, std::size_t n, const void* first, const Rest*... rest) {
    MILLRACE_INDEPENDENT_ITERATIONS
    for (std::size_t i = 0; i < n; ++i) {
      V value = value_at(first, i);
      I index = index_at(first, i);
      (combine(value, index, value_at(rest, i), index_at(rest, i)), ...);
      store(out, i, value, index);
    }
  }
};

template <class V, class I, bool Greater>
struct Loop<Location<V, I, Greater>> {
  using type = Pairwise<Location<V, I, Greater>>;
};

}  // namespace
}  // namespace millrace::kernel
