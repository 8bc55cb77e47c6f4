#include "threads/elsewhere.h"

#include <unistd.h>
#include <csignal>

namespace millrace::threads {
namespace {

// A thread that has ended may have left its id to another process.
bool is_ours(int thread) { return tgkill(getpid(), thread, 0) == 0; }

}  // namespace

Elsewhere::Elsewhere(const std::vector<int>& threads) {
  const int here = sched_getcpu();
  if (here < 0 || here >= CPU_SETSIZE) return;
  moved_.reserve(threads.size());
  for (const int thread : threads) {
    cpu_set_t mask;
    if (!is_ours(thread) || sched_getaffinity(thread, sizeof mask, &mask) != 0) continue;
    if (!CPU_ISSET(here, &mask) || CPU_COUNT(&mask) < 2) continue;
    const cpu_set_t before = mask;
    CPU_CLR(here, &mask);
    if (sched_setaffinity(thread, sizeof mask, &mask) == 0) moved_.push_back({thread, before});
  }
}

Elsewhere::~Elsewhere() {
  for (const Moved& moved : moved_)
    if (is_ours(moved.thread)) sched_setaffinity(moved.thread, sizeof moved.before, &moved.before);
}

}  // namespace millrace::threads
