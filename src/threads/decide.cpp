#include "threads/decide.h"

#include <algorithm>

namespace millrace::threads {
namespace {

constexpr unsigned most_threads = 1024;

// What forbids threads whatever was asked for, or null.
const char* obstacle(const Request& request, const Facts& facts) {
  if (request.is_forked) return "a child of fork: the OpenMP runtime's threads stayed with the parent";
  if (facts.is_in_parallel_region) return "inside a parallel region of the program";
  if (facts.openmp == OpenMp::none) return "no OpenMP runtime: libgomp.so.1 was not found";
  if (facts.openmp == OpenMp::foreign) return "the program has two OpenMP runtimes, or one of an unknown kind";
  if (facts.openmp == OpenMp::would_bind)
    return "the environment tells OpenMP to bind threads, and the program has none";
  return nullptr;
}

// Keeps the lowest limit and why.
class Lowest {
 public:
  Lowest(unsigned threads, const char* why) : decision_{threads, why} {}
  void limit(unsigned threads, const char* why) {
    if (threads < decision_.threads) decision_ = {std::max(threads, 1u), why};
  }
  TeamDecision decision() const { return decision_; }

 private:
  TeamDecision decision_;
};

}  // namespace

TeamDecision decide(const Request& request, const Facts& facts) {
  if (request.threads == 1) return {1, "MILLRACE_THREADS is 1"};
  if (const char* why = obstacle(request, facts)) return {1, why};
  if (request.threads > 1) return {std::min(request.threads, most_threads), "as MILLRACE_THREADS says"};

  if (facts.cores == 0) return {1, "the affinity of this process is not known"};
  if (facts.local_ranks == 0) return {1, "how many ranks are on this node is not known"};
  if (facts.sharing_ranks == 0) return {1, "with how many ranks this one shares its cores is not known"};
  if (facts.busy_threads < 0 || facts.idle_processors < 0) return {1, "what else is running is not known"};

  const auto sharing = static_cast<unsigned>(facts.sharing_ranks);
  Lowest lowest(facts.cores, facts.cores == 1 ? "this rank may run on one core" : "every core of this rank is idle");
  lowest.limit(std::max(facts.cores / sharing, 1u), "a fair share of the cores that several ranks may run on");
  if (facts.quota_cpus > 0) {
    const double share = std::min(facts.quota_cpus / facts.local_ranks, double{most_threads});
    lowest.limit(static_cast<unsigned>(share), "the quota of the control group, shared by the ranks of this node");
  }
  if (facts.openmp_threads > 0) lowest.limit(facts.openmp_threads, "OpenMP's own limit (OMP_NUM_THREADS)");
  const auto busy = static_cast<unsigned>(facts.busy_threads);
  lowest.limit(busy < facts.cores ? facts.cores - busy : 1, "other threads of this process are running");
  lowest.limit(static_cast<unsigned>(facts.idle_processors) + 1, "other processors are busy");
  lowest.limit(most_threads, "the most that are ever used");
  return lowest.decision();
}

}  // namespace millrace::threads
