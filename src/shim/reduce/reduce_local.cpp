#include "shim/reduce/reduce_local.h"

#include <fmt/format.h>

#include <string>
#include <vector>

#include "shim/bind/observed.h"
#include "shim/host/fortran.h"

namespace millrace::shim {
namespace {

using record::Reason;

Reason full_reason(const Reduction* reduction, Word in, Word inout, std::int64_t count, Word op) {
  if (!(current_mode() & accelerating)) return Reason::inactive;
  if (!reduction && !covers_op(abi::handle(op))) return Reason::op_not_covered;
  return reduce_local_refusal(reduction, in, inout, count);
}

std::uint16_t reduce_observed(const Reduction& reduction, Word in, Word inout, std::int64_t count) {
  const bool by_threads = reduce(reduction, as_pointer(in), as_pointer(inout), static_cast<std::size_t>(count));
  return static_cast<std::uint16_t>(reduction.algorithm + (by_threads ? first_threaded_algorithm : 0));
}

}  // namespace

const char* threaded_name(std::uint16_t algorithm) {
  static const std::vector<std::string> names = [] {
    std::vector<std::string> made;
    for (std::size_t i = 0; i < kernel::kernel_count; ++i)
      made.push_back(fmt::format("{}_threads", kernel::kernel_name(i)));
    return made;
  }();
  const std::size_t index = algorithm - first_threaded_algorithm;
  return index < names.size() ? names[index].c_str() : nullptr;
}

Word observed_reduce_local(Symbol symbol, void* next, Word in, Word inout, Word count_word, std::int64_t count,
                           Word datatype, Word op) {
  if (marked_for_check(symbol)) return 0;
  const bool active = current_mode() & accelerating;
  const Reduction* reduction = active ? find_reduction(abi::handle(datatype), abi::handle(op)) : nullptr;
  const Reason reason = full_reason(reduction, in, inout, count, op);
  ObservedCall observed(symbol);
  Word result = 0;
  std::uint16_t algorithm = record::no_algorithm;
  if (reduction && reason == Reason::none) {
    algorithm = reduce_observed(*reduction, in, inout, count);
  } else {
    result = call(next, in, inout, count_word, datatype, op);
  }
  observed.stop();
  if (observed.outermost() && (current_mode() & recording)) {
    const Word words[] = {in, inout, count_word, datatype, op};
    observed.add(as_int(result) == 0 ? posted_bytes(symbol, words) : 0, algorithm, reason);
  }
  return result;
}

Word fortran_reduce_local(Symbol symbol, void* next, const FortranReduceLocal& arguments) {
  if (marked_for_check(symbol)) return 0;
  const auto [in, inout, count_address, datatype_address, op_address, error] = arguments;
  const bool active = current_mode() & accelerating;
  const Reduction* reduction = nullptr;
  Reason reason = Reason::inactive;
  std::int64_t count = 0;
  if (active) {
    const Word datatype = fortran::to_datatype(datatype_address);
    const Word op = fortran::to_op(op_address);
    count = fortran::to_int(count_address);
    reduction = find_reduction(datatype, op);
    reason = full_reason(reduction, in, inout, count, op);
    if (fortran::is_sentinel(in) || fortran::is_sentinel(inout)) reason = Reason::invalid_argument;
  }
  ObservedCall observed(symbol);
  std::uint16_t algorithm = record::no_algorithm;
  if (reason == Reason::none) {
    algorithm = reduce_observed(*reduction, in, inout, count);
    if (error) *static_cast<int*>(as_pointer(error)) = 0;
  } else {
    call(next, in, inout, count_address, datatype_address, op_address, error);
  }
  observed.stop();
  if (observed.outermost() && (current_mode() & recording)) {
    const Word words[] = {in, inout, count_address, datatype_address, op_address, error};
    const bool succeeded = !error || *static_cast<int*>(as_pointer(error)) == 0;
    observed.add(succeeded ? posted_bytes(symbol, words) : 0, algorithm, reason);
  }
  return 0;
}

}  // namespace millrace::shim
