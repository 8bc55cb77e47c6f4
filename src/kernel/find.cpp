#include "kernel/kernel.h"
#include "kernel/narrower.h"

namespace millrace::kernel {
namespace {

struct FoundKernel {
  const KernelSet* set;
  const Kernel* kernel;  // never null; its forms are null if (op, type) is not covered
};

FoundKernel find(Op op, Type type) {
  const ActiveKernels& active = active_kernels();
  const KernelSet* set = active.narrower && narrower_is_faster(op, type) ? active.narrower : active.unit->set;
  const Kernel* kernel = &kernel_of(*set, op, type);
  if (kernel->reduce2) return {set, kernel};
  return {&scalar_unit, &kernel_of(scalar_unit, op, type)};
}

}  // namespace

const Kernel& kernel_of(const KernelSet& unit, Op op, Type type) {
  return unit.kernels[static_cast<std::size_t>(op)][static_cast<std::size_t>(type)];
}

Reduce2 find_reduce2(Op op, Type type) { return find(op, type).kernel->reduce2; }
Reduce3 find_reduce3(Op op, Type type) { return find(op, type).kernel->reduce3; }
ReduceN find_reduce_n(Op op, Type type) { return find(op, type).kernel->reduce_n; }

const char* kernel_isa(Op op, Type type) {
  const FoundKernel found = find(op, type);
  return found.kernel->reduce2 ? found.set->isa : nullptr;
}

}  // namespace millrace::kernel
