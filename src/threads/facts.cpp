#include "threads/facts.h"

#include <unistd.h>

#include <array>
#include <atomic>
#include <ctime>
#include <set>
#include <string>
#include <vector>

#include "base/affinity.h"
#include "base/clock.h"
#include "base/files.h"
#include "base/quota.h"
#include "threads/load.h"
#include "threads/openmp.h"
#include "threads/ranks.h"

namespace millrace::threads {
namespace {

constexpr std::uint64_t load_lasts_ns = 5'000'000;

// By member number of the team; 0: none yet. Each is written by its own thread, inside a region that the reader waits
// for.
std::array<std::atomic<int>, 1024> workers;

struct Lasting {
  std::vector<int> allowed;
  int processes = -1;
  unsigned cores = 0;
  int online = 0;
  double quota_cpus = 0;
  NodeRanks ranks;
};

unsigned cores_of(const std::vector<int>& allowed) {
  std::set<std::string> cores;
  for (const int cpu : allowed) {
    const std::string file = "/sys/devices/system/cpu/cpu" + std::to_string(cpu) + "/topology/thread_siblings_list";
    cores.insert(read_text(file).value_or(std::to_string(cpu)));
  }
  return static_cast<unsigned>(cores.size());
}

Lasting look_around(const std::vector<int>& allowed, int processes) {
  Lasting found{allowed, processes, cores_of(allowed), 0, read_cpu_quota().cpus.value_or(0), {}};
  found.online = static_cast<int>(sysconf(_SC_NPROCESSORS_ONLN));
  found.ranks = find_ranks(environ, processes, allowed);
  return found;
}

Load recent_load(int online) {
  static Load load;
  static std::uint64_t looked_ns = 0;
  static int looked_by = 0;
  const std::uint64_t now = monotonic_ns();
  const int caller = gettid();
  if (looked_ns != 0 && looked_by == caller && now - looked_ns < load_lasts_ns) return load;
  load = read_load(caller, known_workers(workers.size()), online);
  looked_ns = now;
  looked_by = caller;
  return load;
}

void add_openmp(Facts& facts) {
  const OpenMpState state = look_at_openmp(environ);
  facts.openmp = state.openmp;
  facts.is_in_parallel_region = state.is_in_parallel_region;
  facts.openmp_threads = state.threads;
}

bool has_room(const Facts& facts) {
  return facts.sharing_ranks > 0 && facts.cores / static_cast<unsigned>(facts.sharing_ranks) > 1;
}

}  // namespace

void remember_worker(unsigned member) {
  if (member > 0 && member < workers.size()) workers[member].store(gettid(), std::memory_order_relaxed);
}

std::vector<int> known_workers(unsigned team) {
  std::vector<int> ids;
  for (std::size_t member = 1; member < workers.size() && member < team; ++member)
    if (const int id = workers[member].load(std::memory_order_relaxed)) ids.push_back(id);
  return ids;
}

Facts gather_facts(const Request& request) {
  Facts facts;
  if (request.threads > 0) {  // asked for by hand: nothing but the runtime matters
    add_openmp(facts);
    return facts;
  }
  static Lasting lasting;
  std::vector<int> allowed = allowed_processors();
  if (allowed != lasting.allowed || lasting.processes != request.processes)
    lasting = look_around(allowed, request.processes);
  facts.cores = lasting.cores;
  facts.quota_cpus = lasting.quota_cpus;
  facts.local_ranks = lasting.ranks.local;
  facts.sharing_ranks = lasting.ranks.sharing;
  if (!has_room(facts)) {  // the usual case, a core per rank, costs no more than this
    facts.openmp = OpenMp::loadable;
    facts.busy_threads = 0;
    facts.idle_processors = lasting.online;
    return facts;
  }
  add_openmp(facts);
  const Load load = recent_load(lasting.online);
  facts.busy_threads = load.busy_threads;
  facts.idle_processors = load.idle_processors;
  return facts;
}

}  // namespace millrace::threads
