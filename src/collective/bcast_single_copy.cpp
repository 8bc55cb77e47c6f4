// Bcast of large messages, where ranks may read each other's memory: the root says where its buffer lies, in its cell,
// and returns when all have read it there.
#include <cstring>

#include "collective/algorithms.h"

namespace millrace::collective {

Result bcast_single_copy(Group& group, const Call& call, void* buffer, std::size_t bytes, std::uint32_t root) {
  if (group.rank() != root) {
    if (const Result result = group.receive(root, call); result != Result::ok) return result;
    std::uint64_t address = 0;
    std::memcpy(&address, group.cell(root, call).data, sizeof address);
    if (const Result result = group.read_from(root, address, buffer, bytes); result != Result::ok) return result;
    group.finish(call);
    return Result::ok;
  }
  if (const Result result = group.cell_free(call); result != Result::ok) return result;
  const auto address = static_cast<std::uint64_t>(reinterpret_cast<std::uintptr_t>(buffer));
  std::memcpy(group.cell(root, call).data, &address, sizeof address);
  group.post(call);
  group.finish(call);
  return group.all_finished(call);
}

}  // namespace millrace::collective
