#include "shim/reduce/wire_ops.h"

#include <array>
#include <mutex>
#include <utility>

#include "abi.h"
#include "kernel/kernel.h"
#include "shim/bind/forward.h"
#include "shim/host/predefined.h"
#include "shim/reduce/reductions.h"

namespace millrace::shim {
namespace {

struct WireOp {
  Word predefined = 0;
  Word ours = 0;
};
std::mutex making;
std::array<WireOp, kernel::op_count> ops;  // written under `making`, before anybody is given one

// The function behind an op of ours. The host calls it with its own handle of the datatype.
template <std::size_t op>
void reduce_on_wire(const void* in, void* inout, const int* length, const void* datatype) {
  // Never null: who gives a call this op has found the kernel by the same words.
  const Reduction* const reduction = find_reduction(abi::handle_at(as_word(datatype)), ops[op].predefined);
  if (!reduction || *length <= 0) return;
  const auto type = static_cast<kernel::Type>(reduction->algorithm % kernel::type_count);
  kernel::find_reduce2(static_cast<kernel::Op>(op), type)(in, inout, static_cast<std::size_t>(*length));
}

using UserFunction = void (*)(const void*, void*, const int*, const void*);

template <std::size_t... op>
constexpr std::array<UserFunction, sizeof...(op)> wire_functions(std::index_sequence<op...>) {
  return {&reduce_on_wire<op>...};
}

}  // namespace

bool prepare_wire_ops() noexcept try {
  constexpr auto functions = wire_functions(std::make_index_sequence<kernel::op_count>{});
  const std::lock_guard hold(making);
  for (const KnownOp& op : known_ops()) {
    WireOp& made = ops[static_cast<std::size_t>(op.op)];
    if (made.ours != 0) continue;
    Word handle = 0;
    // Every predefined op is commutative.
    if (host<Symbol::MPI_Op_create>(reinterpret_cast<Word>(functions[static_cast<std::size_t>(op.op)]), 1,
                                    as_word(&handle)) != 0)
      return false;
    made = {op.handle, abi::handle(handle)};
  }
  return true;
} catch (...) {  // no memory
  return false;
}

Word wire_op(kernel::Op op) { return ops[static_cast<std::size_t>(op)].ours; }

void forget_wire_ops() {
  for (WireOp& op : ops)
    if (Word made = std::exchange(op.ours, 0); made != 0) host<Symbol::MPI_Op_free>(as_word(&made));
}

}  // namespace millrace::shim
