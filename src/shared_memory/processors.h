// Which processors a process may run on, and whether several processes have one each.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

namespace millrace::shared_memory {

inline constexpr std::size_t most_processors = 1024;

struct Processors {
  std::uint64_t mask[most_processors / 64] = {};  // processors that affinity permits; those above 1023 are left out
  std::uint64_t quota_group = 0;                  // identifies the control group whose quota binds; 0: no quota
  std::uint32_t quota_millicores = 0;             // processor time of that group per time, 1000: one processor
};

Processors own_processors() noexcept;  // of the calling thread
Processors own_affinity() noexcept;    // likewise, as if there were no quota: no file is read

// Processors of a system as what they are to processes that share nothing else, those of several containers.
struct ProcessorSet {
  std::uint64_t name = 0;   // unlike that of others, or of another system; 0: not known
  std::uint32_t count = 0;  // of processors
};
// `boot`: what the kernel calls this run of the system.
ProcessorSet processor_set(const Processors& processors, std::string_view boot) noexcept;
ProcessorSet own_processor_set() noexcept;  // of the calling thread

// Whether each can have a processor of its own at the same time: a matching of processes with processors exists, and
// no quota group has more processes than whole processors.
bool one_each(std::span<const Processors> processes);

}  // namespace millrace::shared_memory
