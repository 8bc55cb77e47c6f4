// What needs no other rank: a group of one, or nothing to send. The call still counts: mismatches later on are found by
// its number.
#include <cstring>

#include "collective/algorithms.h"

namespace millrace::collective {
namespace {

Result alone(Group& group, const Call& call, const void* in, void* out, std::size_t bytes) {
  if (bytes != 0 && in != out) std::memcpy(out, in, bytes);
  group.finish(call);
  return Result::ok;
}

}  // namespace

Result barrier_alone(Group& group, const Call& call) { return alone(group, call, nullptr, nullptr, 0); }

Result bcast_alone(Group& group, const Call& call, void*, std::size_t&, std::uint32_t) {
  return alone(group, call, nullptr, nullptr, 0);
}

Result reduce_alone(Group& group, const Call& call, const void* in, void* out, std::size_t elements,
                    const Reducer& reducer, std::uint32_t) {
  return alone(group, call, in, out, elements * reducer.element_bytes);
}

Result allreduce_alone(Group& group, const Call& call, const void* in, void* out, std::size_t elements,
                       const Reducer& reducer) {
  return alone(group, call, in, out, elements * reducer.element_bytes);
}

Result reduce_scatter_alone(Group& group, const Call& call, const void* in, void* out, const Blocking& blocks,
                            const Reducer& reducer) {
  return alone(group, call, in, out, blocks.elements() * reducer.element_bytes);
}

Result scan_alone(Group& group, const Call& call, const void* in, void* out, std::size_t elements,
                  const Reducer& reducer, bool inclusive) {
  return alone(group, call, in, out, inclusive ? elements * reducer.element_bytes : 0);
}

}  // namespace millrace::collective
