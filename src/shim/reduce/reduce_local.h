// MPI_Reduce_local (MPI 4.1, 6.9.7): inout[i] = in[i] op inout[i], by our kernels.
#pragma once

#include <array>

#include "abi.h"
#include "positions.h"
#include "record/record.h"
#include "shim/bind/forward.h"
#include "shim/call/arguments.h"
#include "shim/host/device_memory.h"
#include "shim/reduce/reductions.h"
#include "threads/parallel.h"

namespace millrace::shim {

// Why the host must do this call, or Reason::none. `reduction` may be null.
inline record::Reason reduce_local_refusal(const Reduction* reduction, const Arguments& arguments) {
  using record::Reason;
  const Word in = arguments.buffer(at::Reduce_local::inbuf);
  const Word inout = arguments.buffer(at::Reduce_local::inoutbuf);
  const std::int64_t count = arguments.count(at::Reduce_local::count);
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
Word observed_reduce_local(Symbol symbol, void* next, std::span<const Word> words);

// Also of Fortran, where its entry does not come through the C one (Open MPI).
template <Symbol symbol, class... Words>
inline Word accelerated_reduce_local(Words... all) {
  using Place = at::Reduce_local;
  if (__builtin_expect(current_mode() != accelerating, 0)) {
    // An array of its own: of one that others see, the words would be in memory on the quick road, too.
    const std::array<Word, sizeof...(all)> seen{all...};
    return observed_reduce_local(symbol, next_definition<symbol>(), seen);
  }
  const std::array<Word, sizeof...(all)> words{all...};
  const Arguments arguments(symbol, words);
  const Reduction* reduction =
      find_reduction(arguments.datatype(Place::datatype), arguments.op(Place::op), Asking::in_bounded_time);
  if (reduce_local_refusal(reduction, arguments) != record::Reason::none)
    return call(next_definition<symbol>(), all...);
  reduce(*reduction, as_pointer(words[Place::inbuf]), as_pointer(words[Place::inoutbuf]),
         static_cast<std::size_t>(arguments.count(Place::count)));
  return succeed(symbol, words);
}

}  // namespace millrace::shim
