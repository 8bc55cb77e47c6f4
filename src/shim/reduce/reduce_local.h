// MPI_Reduce_local (MPI 4.1, 6.9.7): inout[i] = in[i] op inout[i], by our kernels.
#pragma once

#include "abi.h"
#include "record/record.h"
#include "shim/bind/forward.h"
#include "shim/host/device_memory.h"
#include "shim/reduce/reductions.h"
#include "threads/parallel.h"

namespace millrace::shim {

// Why the host must do this call, or Reason::none. `reduction` may be null.
inline record::Reason reduce_local_refusal(const Reduction* reduction, Word in, Word inout, std::int64_t count) {
  using record::Reason;
  if (!reduction) return Reason::type_not_covered;
  if (!reduction->reduce) return reduction->refusal;
  // Zero goes to the host as well: it is cheap there, and the host may want to look at the other arguments.
  if (count <= 0) return Reason::invalid_argument;
  if (abi::is_special_address(in) || abi::is_special_address(inout)) return Reason::invalid_argument;
  std::uint64_t bytes = 0;
  if (__builtin_mul_overflow(static_cast<std::uint64_t>(count), std::uint64_t{reduction->element_bytes}, &bytes))
    return Reason::invalid_argument;
  const Word distance = in > inout ? in - inout : inout - in;
  if (distance < bytes) return Reason::buffers_overlap;
  return is_device_memory(in, inout) ? Reason::device_memory : Reason::none;
}

// In the report, what threads did has numbers and names of its own: "sum_f64_threads".
inline constexpr std::uint16_t first_threaded_algorithm = 512;
static_assert(first_threaded_algorithm >= kernel::kernel_count);
const char* threaded_name(std::uint16_t algorithm);

// A buffer of any size. True if threads did it.
inline bool reduce_on_threads(const Reduction& reduction, const void* in, void* inout, std::size_t count) {
  return threads::reduce2(reduction.reduce, in, inout, count, reduction.element_bytes);
}
inline bool reduce(const Reduction& reduction, const void* in, void* inout, std::size_t count) {
  if (threads::is_large(count * reduction.element_bytes)) return reduce_on_threads(reduction, in, inout, count);
  reduction.reduce(in, inout, count);
  return false;
}

// The slower road: before initialisation, while recording, in check mode.
Word observed_reduce_local(Symbol symbol, void* next, Word in, Word inout, Word count_word, std::int64_t count,
                           Word datatype, Word op);

template <Symbol symbol>
inline Word accelerated_reduce_local(Word in, Word inout, Word count_word, std::int64_t count, Word datatype, Word op) {
  if (__builtin_expect(current_mode() != accelerating, 0))
    return observed_reduce_local(symbol, next_definition<symbol>(), in, inout, count_word, count, datatype, op);
  const Reduction* reduction = find_reduction(abi::handle(datatype), abi::handle(op));
  if (reduce_local_refusal(reduction, in, inout, count) != record::Reason::none)
    return call(next_definition<symbol>(), in, inout, count_word, datatype, op);
  reduce(*reduction, as_pointer(in), as_pointer(inout), static_cast<std::size_t>(count));
  return 0;
}

// Fortran, where its entry does not come through the C one (Open MPI): arguments by reference, handles as integers.
struct FortranReduceLocal {
  Word in, inout, count, datatype, op, error;
};
Word fortran_reduce_local(Symbol symbol, void* next, const FortranReduceLocal& arguments);

template <Symbol symbol>
inline Word accelerated_reduce_local_fortran(Word in, Word inout, Word count, Word datatype, Word op, Word error) {
  return fortran_reduce_local(symbol, next_definition<symbol>(), {in, inout, count, datatype, op, error});
}

}  // namespace millrace::shim
