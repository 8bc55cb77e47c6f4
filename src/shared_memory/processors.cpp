#include "shared_memory/processors.h"

#include <sched.h>

#include <algorithm>
#include <bit>
#include <mutex>
#include <string>

#include "base/clock.h"
#include "base/files.h"
#include "base/hash.h"
#include "base/quota.h"

namespace millrace::shared_memory {
namespace {

std::uint64_t hash(const std::string& text) { return fnv1a(text) | 1; }

// It lies in several files, and a program may make very many communicators: looked at again after a second only.
constexpr std::uint64_t quota_is_known_for_ns = 1'000'000'000;

struct KnownQuota {
  std::uint64_t read_ns = 0;  // never
  std::uint64_t group = 0;
  std::uint32_t millicores = 0;
};

void read_quota(Processors& processors) {
  static std::mutex& reading = *new std::mutex;  // never destroyed: who asks may be another library's destructor
  static KnownQuota known;
  const std::lock_guard hold(reading);
  const std::uint64_t now_ns = monotonic_ns();
  if (known.read_ns == 0 || now_ns - known.read_ns > quota_is_known_for_ns) {
    const CpuQuota quota = read_cpu_quota();
    known = {now_ns, 0, 0};
    if (quota.cpus) known = {now_ns, hash(quota.file), static_cast<std::uint32_t>(std::min(*quota.cpus * 1000, 4e9))};
  }
  processors.quota_group = known.group;
  processors.quota_millicores = known.millicores;
}

constexpr int nobody = -1;

// One step of Kuhn's matching: finds a processor for `process`, moving others if need be. Depth is at most the number
// of processors, and each frame is small.
bool place(std::span<const Processors> processes, int process, int* taken_by, std::uint64_t* visited) {
  for (std::size_t word = 0; word < most_processors / 64; ++word) {
    for (;;) {
      const std::uint64_t open = processes[static_cast<std::size_t>(process)].mask[word] & ~visited[word];
      if (open == 0) break;
      const auto bit = static_cast<std::size_t>(std::countr_zero(open));
      visited[word] |= std::uint64_t{1} << bit;
      int& owner = taken_by[word * 64 + bit];
      if (owner == nobody || place(processes, owner, taken_by, visited)) {
        owner = process;
        return true;
      }
    }
  }
  return false;
}

bool quota_suffices(std::span<const Processors> processes, const Processors& of) {
  if (of.quota_group == 0) return true;
  const auto members = std::count_if(processes.begin(), processes.end(),
                                     [&](const Processors& each) { return each.quota_group == of.quota_group; });
  return static_cast<std::uint64_t>(members) * 1000 <= of.quota_millicores;
}

}  // namespace

Processors own_affinity() noexcept {
  Processors processors;
  cpu_set_t* const set = CPU_ALLOC(8192);
  if (set) {
    const std::size_t set_bytes = CPU_ALLOC_SIZE(8192);
    if (sched_getaffinity(0, set_bytes, set) == 0)
      for (std::size_t cpu = 0; cpu < most_processors; ++cpu)
        if (CPU_ISSET_S(cpu, set_bytes, set)) processors.mask[cpu / 64] |= std::uint64_t{1} << (cpu % 64);
    CPU_FREE(set);
  }
  return processors;
}

Processors own_processors() noexcept {
  Processors processors = own_affinity();
  try {
    read_quota(processors);
  } catch (...) {
    // No memory to read it: as if there were no quota. What is decided from it is decided from every rank's words.
  }
  return processors;
}

ProcessorSet processor_set(const Processors& processors, std::string_view boot) noexcept {
  ProcessorSet set;
  if (boot.empty()) return set;
  set.name = fnv1a(boot);
  for (const std::uint64_t word : processors.mask) {
    set.count += static_cast<std::uint32_t>(std::popcount(word));
    for (int shift = 0; shift < 64; shift += 8) set.name = fnv1a(set.name, static_cast<unsigned char>(word >> shift));
  }
  set.name |= 1;
  return set;
}

ProcessorSet own_processor_set() noexcept try {
  return processor_set(own_processors(), read_text("/proc/sys/kernel/random/boot_id").value_or(""));
} catch (...) {  // no memory to read it
  return {};
}

bool one_each(std::span<const Processors> processes) {
  for (const Processors& each : processes)
    if (!quota_suffices(processes, each)) return false;
  int taken_by[most_processors];
  std::fill(std::begin(taken_by), std::end(taken_by), nobody);
  for (int process = 0; process < static_cast<int>(processes.size()); ++process) {
    std::uint64_t visited[most_processors / 64] = {};
    if (!place(processes, process, taken_by, visited)) return false;
  }
  return true;
}

}  // namespace millrace::shared_memory
