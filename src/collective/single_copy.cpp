#include "collective/single_copy.h"

#include <sys/uio.h>

#include <algorithm>
#include <cerrno>

namespace millrace::collective {

Result read_memory(std::int32_t pid, std::uint64_t from, void* to, std::size_t bytes) {
  constexpr std::size_t most_bytes = std::size_t{1} << 30;  // Linux moves no more than 2 GiB at a time
  char* at = static_cast<char*>(to);
  while (bytes != 0) {
    const std::size_t wanted = std::min(bytes, most_bytes);
    const iovec local{at, wanted}, remote{reinterpret_cast<void*>(from), wanted};
    const ssize_t moved = process_vm_readv(pid, &local, 1, &remote, 1, 0);
    if (moved <= 0) return moved < 0 && errno == ESRCH ? Result::peer_died : Result::not_supported;
    const auto length = static_cast<std::size_t>(moved);  // less than wanted: the next one says why
    at += length;
    from += length;
    bytes -= length;
  }
  return Result::ok;
}

}  // namespace millrace::collective
