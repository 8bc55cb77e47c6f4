#include "collective/across/here.h"

#include "collective/collective.h"

namespace millrace::collective {

// Who wants this core may be a rank that counts as another node's, and is waited for in the end.
GroupHere::GroupHere(Group& group) : group_(group) { group_.may_keep_core = false; }

Result GroupHere::barrier() { return collective::barrier(group_); }

Result GroupHere::bcast(void* data, std::size_t bytes, std::uint32_t root) {
  std::size_t came = bytes;
  const Result result = collective::bcast(group_, data, bytes, root, &came);
  return result == Result::ok && came != bytes ? Result::mismatch : result;
}

Result GroupHere::reduce(const void* in, void* out, std::size_t elements, const Reducer& reducer, std::uint32_t root) {
  return collective::reduce(group_, in, out, elements, reducer, root);
}

Result GroupHere::reduce_scatter(const void* in, void* out, const Blocking& blocks, const Reducer& reducer) {
  return collective::reduce_scatter(group_, in, out, blocks, reducer);
}

Result GroupHere::scan(const void* in, void* out, std::size_t elements, const Reducer& reducer, bool inclusive) {
  return inclusive ? collective::scan(group_, in, out, elements, reducer)
                   : collective::exscan(group_, in, out, elements, reducer);
}

Result GroupHere::exchange(std::uint64_t label, std::span<const Message> sends, std::span<const Message> receives) {
  return collective::exchange(group_, Kind::alltoall, label, sends, receives);
}

Result GroupHere::publish(std::uint64_t label, const Data& own, std::span<const Data> receives,
                          std::size_t block_bytes) {
  return collective::publish(group_, Kind::allgather, label, own, receives, block_bytes);
}

}  // namespace millrace::collective
