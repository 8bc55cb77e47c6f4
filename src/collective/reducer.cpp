#include "collective/reducer.h"

#include "kernel/copy/row.h"

namespace millrace::collective {
namespace {

bool is_same_in_any_order(kernel::Op op, kernel::Type type) {
  const kernel::TypeClass kind = kernel::type_class(type);
  return (kind == kernel::TypeClass::integer || kind == kernel::TypeClass::logical) && kernel::op_applies(op, type);
}

}  // namespace

Reducer kernel_reducer(kernel::Op op, kernel::Type type) {
  Reducer reducer;
  reducer.reduce2 = kernel::find_reduce2(op, type);
  reducer.reduce3 = kernel::find_reduce3(op, type);
  reducer.reduce_n = kernel::find_reduce_n(op, type);
  reducer.any_order = is_same_in_any_order(op, type);
  if (reducer.reduce2 && reducer.reduce3 && reducer.reduce_n) reducer.element_bytes = kernel::type_bytes(type);
  return reducer;
}

void fold(const Reducer& reducer, const void* const* inputs, std::size_t count, void* out, std::size_t elements,
          void* scratch) {
  if (reducer.reduce_n) {
    if (count == 2) {
      reducer.reduce3(inputs[0], inputs[1], out, elements);
    } else {
      reducer.reduce_n(inputs, count, out, elements);
    }
    return;
  }
  // The function leaves its result where its right operand was: the running value changes places with each step, and
  // begins where it will end in `out`.
  const std::size_t bytes = elements * reducer.element_bytes;
  void* left = count % 2 == 1 ? out : scratch;
  void* right = count % 2 == 1 ? scratch : out;
  kernel::copy_row(left, inputs[0], bytes);
  for (std::size_t next = 1; next < count; ++next) {
    if (right != inputs[next]) kernel::copy_row(right, inputs[next], bytes);
    reducer.user(reducer.context, left, right, elements);
    void* const result = right;
    right = left;
    left = result;
  }
}

}  // namespace millrace::collective
