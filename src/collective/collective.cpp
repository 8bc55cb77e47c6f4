#include "collective/collective.h"

#include "collective/across/across.h"
#include "collective/known_call.h"

namespace millrace::collective {

Result barrier(Group& group) {
  if (Across* const across = group.enter_across()) return across->barrier();
  return barrier(group, known_barrier(group));
}

Result bcast(Group& group, void* buffer, std::size_t bytes, std::uint32_t root, std::size_t* came_bytes) {
  if (Across* const across = group.enter_across()) return across->bcast(buffer, bytes, root);
  return bcast(group, known_bcast(group, bytes, root), buffer, bytes, root, came_bytes);
}

Result reduce(Group& group, const void* in, void* out, std::size_t elements, const Reducer& reducer,
              std::uint32_t root) {
  if (Across* const across = group.enter_across()) return across->reduce(in, out, elements, reducer, root);
  const KnownCall known = known_reduction(group, Kind::reduce, elements * reducer.element_bytes, reducer, root);
  return known.entry ? reduce(group, known, in, out, elements, reducer, root) : Result::not_supported;
}

Result allreduce(Group& group, const void* in, void* out, std::size_t elements, const Reducer& reducer) {
  if (Across* const across = group.enter_across()) return across->allreduce(in, out, elements, reducer);
  const KnownCall known = known_reduction(group, Kind::allreduce, elements * reducer.element_bytes, reducer, 0);
  return known.entry ? allreduce(group, known, in, out, elements, reducer) : Result::not_supported;
}

Result reduce_scatter(Group& group, const void* in, void* out, const Blocking& blocks, const Reducer& reducer) {
  if (Across* const across = group.enter_across()) return across->reduce_scatter(in, out, blocks, reducer);
  const KnownCall known = known_reduce_scatter(group, blocks, reducer);
  return known.entry ? reduce_scatter(group, known, in, out, blocks, reducer) : Result::not_supported;
}

namespace {

Result scan_as(Group& group, Kind kind, const void* in, void* out, std::size_t elements, const Reducer& reducer) {
  if (Across* const across = group.enter_across()) return across->scan(in, out, elements, reducer, kind == Kind::scan);
  const KnownCall known = known_reduction(group, kind, elements * reducer.element_bytes, reducer, 0);
  return known.entry ? scan(group, known, in, out, elements, reducer) : Result::not_supported;
}

}  // namespace

Result scan(Group& group, const void* in, void* out, std::size_t elements, const Reducer& reducer) {
  return scan_as(group, Kind::scan, in, out, elements, reducer);
}

Result exscan(Group& group, const void* in, void* out, std::size_t elements, const Reducer& reducer) {
  return scan_as(group, Kind::exscan, in, out, elements, reducer);
}

}  // namespace millrace::collective
