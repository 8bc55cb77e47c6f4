#include "node/board_file.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/files.h"
#include "node/board_layout.h"
#include "node/user_directory.h"
#include "shared_memory/read_once.h"

namespace millrace::node {
namespace {

constexpr int wanted_descriptor = 200;
constexpr std::size_t most_files = 64;  // looked at by one process
constexpr std::uint64_t longest_wait_for_file_ns = 5'000'000'000;
constexpr std::uint64_t shortest_pause_ns = 20'000, longest_pause_ns = 500'000;

// How many descriptors this process has room for. A table that grows is exchanged, and in a process with threads (hosts
// have some) the kernel waits until no processor reads the old one: 10 to 30 ms.
int table_of_descriptors() {
  constexpr std::string_view title = "\nFDSize:";
  const std::string status = read_text("/proc/self/status").value_or("");
  const std::size_t found = status.find(title);
  const int entries = found == std::string::npos ? 0 : std::atoi(status.c_str() + found + title.size());
  return entries > 0 ? entries : 256;
}

std::vector<std::string> names_in(int directory, const std::string& own) {
  std::vector<std::string> names;
  const int descriptor = openat(directory, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  DIR* const listing = descriptor >= 0 ? fdopendir(descriptor) : nullptr;
  if (!listing) {
    if (descriptor >= 0) close(descriptor);
    return names;
  }
  while (const dirent* entry = readdir(listing))
    if (std::strncmp(entry->d_name, "job-", 4) == 0 && own != entry->d_name && names.size() < most_files)
      names.emplace_back(entry->d_name);
  closedir(listing);
  return names;
}

// Whether nobody who is written down in that file lives. A file whose maker is still at work is locked.
bool is_abandoned(int file) {
  struct stat found {};
  if (fstat(file, &found) != 0) return false;
  const auto bytes = static_cast<std::size_t>(found.st_size);
  if (bytes < members_offset()) return true;
  void* const base = mmap(nullptr, bytes, PROT_READ, MAP_SHARED, file, 0);
  if (base == MAP_FAILED) return false;
  const auto* head = static_cast<const BoardHead*>(base);
  const auto* members = reinterpret_cast<const BoardMember*>(static_cast<const char*>(base) + members_offset());
  const auto self = shared_memory::own_identity();
  const bool whole = head->magic.load(std::memory_order_acquire) == board_magic && head->version == board_version;
  const std::uint32_t ranks = whole ? shared_memory::read_once(head->world_ranks) : 0;
  bool abandoned = board_bytes(ranks) <= bytes;
  for (std::uint32_t rank = 0; abandoned && rank < ranks; ++rank)
    if (members[rank].here.load(std::memory_order_acquire) == 1 &&
        shared_memory::maybe_alive(members[rank].process, self))
      abandoned = false;
  munmap(base, bytes);
  return abandoned;
}

}  // namespace

bool lock_file(int file) {
  const std::uint64_t until_ns = monotonic_ns() + longest_wait_for_file_ns;
  // Whoever has it joins, in some 100 us: all ranks of a node come here at once, and each waits for those before it.
  for (std::uint64_t pause_ns = shortest_pause_ns;; pause_ns = std::min(2 * pause_ns, longest_pause_ns)) {
    if (flock(file, LOCK_EX | LOCK_NB) == 0) return true;
    if ((errno != EWOULDBLOCK && errno != EINTR) || monotonic_ns() > until_ns) return false;
    const timespec pause{0, static_cast<long>(pause_ns)};
    nanosleep(&pause, nullptr);
  }
}

int keep_descriptor(int descriptor) {
  const int high = fcntl(descriptor, F_DUPFD_CLOEXEC, std::min(wanted_descriptor, table_of_descriptors() - 8));
  return high >= 0 ? high : fcntl(descriptor, F_DUPFD_CLOEXEC, 3);
}

void remove_abandoned_files(int directory, const std::string& own) {
  for (const std::string& name : names_in(directory, own)) {
    const int file = open_user_file(directory, name, false);
    if (file < 0) continue;
    if (flock(file, LOCK_EX | LOCK_NB) == 0 && is_abandoned(file)) unlinkat(directory, name.c_str(), 0);
    close(file);
  }
}

}  // namespace millrace::node
