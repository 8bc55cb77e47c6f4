#include "collective/single_copy.h"

#include <sys/uio.h>

#include <algorithm>
#include <cerrno>

#include "kernel/copy/row.h"

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

// Through memory of our own that lies in its page as the other end does, where the kernel copies slowly (row.h).
constexpr std::size_t page_bytes = 4096, detour_bytes = 16 << 10, least_detour_bytes = 2048;

template <class Step>
Result by_detour(std::uint64_t remote, char* local, std::size_t bytes, Step step) {
  alignas(page_bytes) char memory[detour_bytes + page_bytes];
  char* const own = memory + remote % page_bytes;
  while (bytes != 0) {
    const std::size_t length = std::min(bytes, detour_bytes);
    if (const Result result = step(remote, own, local, length); result != Result::ok) return result;
    local += length;
    remote += length;
    bytes -= length;
  }
  return Result::ok;
}

bool needs_detour(std::uint64_t to, std::uint64_t from, std::size_t bytes) {
  return bytes >= least_detour_bytes &&
         kernel::string_copy_is_slow(reinterpret_cast<const void*>(to), reinterpret_cast<const void*>(from));
}

}  // namespace

Result read_memory(std::int32_t pid, std::uint64_t from, void* to, std::size_t bytes) {
  if (needs_detour(reinterpret_cast<std::uintptr_t>(to), from, bytes))
    return by_detour(from, static_cast<char*>(to), bytes,
                     [pid](std::uint64_t remote, char* own, char* local, std::size_t length) {
                       const Result result = move_memory(process_vm_readv, pid, remote, own, length);
                       if (result == Result::ok) kernel::copy_row(local, own, length);
                       return result;
                     });
  return move_memory(process_vm_readv, pid, from, static_cast<char*>(to), bytes);
}

Result write_memory(std::int32_t pid, std::uint64_t to, const void* from, std::size_t bytes) {
  if (needs_detour(to, reinterpret_cast<std::uintptr_t>(from), bytes))
    return by_detour(to, static_cast<char*>(const_cast<void*>(from)), bytes,
                     [pid](std::uint64_t remote, char* own, char* local, std::size_t length) {
                       kernel::copy_row(own, local, length);
                       return move_memory(process_vm_writev, pid, remote, own, length);
                     });
  return move_memory(process_vm_writev, pid, to, static_cast<char*>(const_cast<void*>(from)), bytes);
}

}  // namespace millrace::collective
