#include "base/affinity.h"

#include <sched.h>

#include <cstddef>

namespace millrace {

std::vector<int> allowed_processors() {
  // The mask grows until the kernel's fits: cpu_set_t ends at 1024 processors.
  for (int most = 1024; most <= 1 << 20; most *= 2) {
    cpu_set_t* mask = CPU_ALLOC(static_cast<std::size_t>(most));
    const std::size_t size = CPU_ALLOC_SIZE(static_cast<std::size_t>(most));
    std::vector<int> allowed;
    const bool is_read = sched_getaffinity(0, size, mask) == 0;
    for (int cpu = 0; is_read && cpu < most; ++cpu)
      if (CPU_ISSET_S(static_cast<std::size_t>(cpu), size, mask)) allowed.push_back(cpu);
    CPU_FREE(mask);
    if (is_read) return allowed;
  }
  return {};
}

}  // namespace millrace
