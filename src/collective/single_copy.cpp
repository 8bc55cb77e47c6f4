#include "collective/single_copy.h"

#include <sys/uio.h>

#include <algorithm>
#include <cerrno>

namespace millrace::collective {
namespace {

using Move = ssize_t(pid_t, const iovec*, unsigned long, const iovec*, unsigned long, unsigned long);

Result move_memory(Move* move, std::int32_t pid, std::uint64_t remote, char* local, std::size_t bytes) {
  constexpr std::size_t most_bytes = std::size_t{1} << 30;  // Linux moves no more than 2 GiB at a time
  while (bytes != 0) {
    const std::size_t wanted = std::min(bytes, most_bytes);
    const iovec here{local, wanted}, there{reinterpret_cast<void*>(remote), wanted};
    const ssize_t moved = move(pid, &here, 1, &there, 1, 0);
    if (moved <= 0) return moved < 0 && errno == ESRCH ? Result::peer_died : Result::not_supported;
    const auto length = static_cast<std::size_t>(moved);  // less than wanted: the next one says why
    local += length;
    remote += length;
    bytes -= length;
  }
  return Result::ok;
}

}  // namespace

Result read_memory(std::int32_t pid, std::uint64_t from, void* to, std::size_t bytes) {
  return move_memory(process_vm_readv, pid, from, static_cast<char*>(to), bytes);
}

Result write_memory(std::int32_t pid, std::uint64_t to, const void* from, std::size_t bytes) {
  return move_memory(process_vm_writev, pid, to, static_cast<char*>(const_cast<void*>(from)), bytes);
}

}  // namespace millrace::collective
