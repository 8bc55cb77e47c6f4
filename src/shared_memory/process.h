// Whether another process of this node is alive.
#pragma once

#include <cstdint>

namespace millrace::shared_memory {

struct ProcessIdentity {
  std::int32_t pid = 0;
  std::uint64_t start_time = 0;     // clock ticks since boot: a pid may be used again; 0: not known
  std::uint64_t pid_namespace = 0;  // 0: not known
};

ProcessIdentity own_identity();
// In clock ticks since boot; 0 if /proc does not tell.
std::uint64_t start_time_of(std::int32_t pid);

// False only if that process has certainly ended (also one that nobody has waited for yet). `observer` is the caller's
// own identity: pids of another namespace mean nothing to it, and such processes count as alive.
bool maybe_alive(const ProcessIdentity& process, const ProcessIdentity& observer);

// Whether a tool in this process follows every write to memory, and so takes what another process writes there for
// never written: Valgrind, MemorySanitizer.
bool writes_are_followed();

}  // namespace millrace::shared_memory
