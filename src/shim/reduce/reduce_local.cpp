#include "shim/reduce/reduce_local.h"

#include <fmt/format.h>

#include <string>
#include <vector>

#include "shim/bind/observed.h"

namespace millrace::shim {
namespace {

using record::Reason;

using Place = at::Reduce_local;

std::uint16_t reduce_observed(const Reduction& reduction, const Arguments& arguments) {
  const bool by_threads =
      reduce(reduction, as_pointer(arguments.word(Place::inbuf)), as_pointer(arguments.word(Place::inoutbuf)),
             static_cast<std::size_t>(arguments.count(Place::count)));
  return static_cast<std::uint16_t>(reduction.algorithm + (by_threads ? first_threaded_algorithm : 0));
}

}  // namespace

const char* threaded_name(std::uint16_t algorithm) {
  static const std::vector<std::string> names = [] {
    std::vector<std::string> made;
    made.reserve(kernel::kernel_count);
    for (std::size_t i = 0; i < kernel::kernel_count; ++i)
      made.push_back(fmt::format("{}_threads", kernel::kernel_name(i)));
    return made;
  }();
  const std::size_t index = algorithm - first_threaded_algorithm;
  return index < names.size() ? names[index].c_str() : nullptr;
}

Word observed_reduce_local(Symbol symbol, void* next, std::span<const Word> words) {
  if (marked_for_check(symbol)) return 0;
  const Arguments arguments(symbol, words);
  const Reduction* reduction = nullptr;
  Reason reason = Reason::inactive;
  if (current_mode() & accelerating) {
    const Word op = arguments.op(Place::op);
    reduction = find_reduction(arguments.datatype(Place::datatype), op, Asking::in_bounded_time);
    reason = reduction || covers_op(op) ? reduce_local_refusal(reduction, arguments) : Reason::op_not_covered;
  }
  ObservedCall observed(symbol);
  Word result = 0;
  std::uint16_t algorithm = record::no_algorithm;
  if (reduction && reason == Reason::none) {
    algorithm = reduce_observed(*reduction, arguments);
    result = succeed(symbol, words);
  } else if (is_fortran(symbol)) {
    result = call(next, words[0], words[1], words[2], words[3], words[4], words[5]);
  } else {
    result = call(next, words[0], words[1], words[2], words[3], words[4]);
  }
  observed.stop();
  if (observed.outermost() && (current_mode() & recording))
    observed.add(has_succeeded(symbol, result, words) ? posted_bytes(symbol, words) : 0, algorithm, reason);
  return result;
}

}  // namespace millrace::shim
