#include "shim/process/region_name.h"

#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <cstdint>
#include <cstring>

namespace millrace::shim {
namespace {

// As many bytes as there are up to `room`, by the kernel, which does not fault: who calls MPI_Pcontrol(1) without a
// name leaves anything in its place. In two parts: of one that ends on a page that is not there nothing might come.
ssize_t copy_from(Word address, std::span<char> room) noexcept {
  constexpr Word page = 4096;  // the least there is
  const std::size_t first = std::min<std::size_t>(room.size(), page - address % page);
  iovec own{room.data(), room.size()};
  iovec parts[] = {{as_pointer(address), first}, {as_pointer(address + first), room.size() - first}};
  const ssize_t copied = process_vm_readv(getpid(), &own, 1, parts, first < room.size() ? 2 : 1, 0);
  if (copied >= 0 || (errno != EPERM && errno != ENOSYS)) return copied;
  // Forbidden here: the program was said to give names, so there is one.
  std::size_t length = 0;
  for (const char* const text = static_cast<const char*>(as_pointer(address)); length < room.size(); ++length) {
    room[length] = text[length];
    if (text[length] == '\0') return static_cast<ssize_t>(length) + 1;
  }
  return static_cast<ssize_t>(length);
}

}  // namespace

std::string_view read_region_name(Word address, std::span<char> room) noexcept {
  if (address == 0) return {};
  const int kept = errno;
  const ssize_t copied = copy_from(address, room);
  errno = kept;
  if (copied <= 0) return {};
  const auto end = std::find(room.begin(), room.begin() + copied, '\0');
  std::replace_if(
      room.begin(), end, [](unsigned char letter) { return std::iscntrl(letter) != 0; }, ' ');
  auto length = static_cast<std::size_t>(end - room.begin());
  while (length > 0 && room[length - 1] == ' ') --length;
  return {room.data(), length};
}

}  // namespace millrace::shim
