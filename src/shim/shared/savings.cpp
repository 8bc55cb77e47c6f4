#include "shim/shared/savings.h"

#include <cmath>
#include <map>
#include <mutex>
#include <optional>
#include <utility>

#include "shim/node/node_group.h"

namespace millrace::shim {
namespace {

// Of our calls of a class.
struct Costs {
  plan::LearnedRatio ratio;  // over the host's
  double ours_ns = 0;        // the mean over trials
  std::uint64_t trials = 0;
  bool is_settled = false;  // by longer trials alone, which tell more (plan/evidence.h)
};

struct Savings {
  std::mutex mutex;
  std::map<std::pair<std::uint16_t, plan::LearnedCall>, std::uint64_t> calls;
  std::map<plan::LearnedCall, Costs> costs;
};
// Never destroyed: threads may outlive the end of the program.
Savings& state() {
  static Savings& only = *new Savings;
  return only;
}

thread_local constinit std::optional<plan::LearnedCall> current __attribute__((tls_model("initial-exec")));

record::SavedTime saved_by(const Costs& costs, std::uint64_t calls) {
  const double each_ns = costs.ours_ns * (std::exp(-costs.ratio.mean()) - 1);
  const double error_ns = costs.ours_ns * std::exp(-costs.ratio.mean()) * costs.ratio.standard_error();
  return {calls, static_cast<double>(calls) * each_ns, static_cast<double>(calls) * error_ns};
}

}  // namespace

plan::LearnedCall call_class(const Communicator& communicator, const plan::EitherCall& call) {
  const bool any_size = call.bytes < 0 || call.kind == collective::Kind::bcast;
  return {.kind = call.kind,
          .flavor = call.flavor,
          .least_bytes = any_size ? -1 : plan::least_bytes(plan::size_class(call.bytes)),
          .ranks = communicator.ranks,
          .crowded = communicator.group->group().crowded()};
}

void note_class(const Communicator& communicator, const plan::EitherCall& call) {
  current = call_class(communicator, call);
}

void forget_class() { current.reset(); }

void count_saving(std::uint16_t entry) noexcept try {
  if (!current) return;
  Savings& all = state();
  const std::lock_guard hold(all.mutex);
  ++all.calls[{entry, *current}];
} catch (...) {  // no memory: it is not counted
}

void note_costs(const Communicator& communicator, const plan::Evidence::Outcome& outcome) {
  Savings& all = state();
  const std::lock_guard hold(all.mutex);
  for (const plan::Evidence::Comparison& one : outcome.trials) {
    const plan::EitherCall call{.kind = one.kind, .flavor = one.flavor, .bytes = one.least_bytes};
    Costs& costs = all.costs[call_class(communicator, call)];
    if (one.is_settled && !costs.is_settled) costs = {};
    costs.is_settled = costs.is_settled || one.is_settled;
    if (costs.is_settled && !one.is_settled) continue;
    costs.ratio.add(one.spent_ratio);
    costs.ours_ns += (one.ours_ns - costs.ours_ns) / static_cast<double>(++costs.trials);
  }
}

std::vector<record::EntrySaving> savings() {
  Savings& all = state();
  const std::lock_guard hold(all.mutex);
  std::vector<record::EntrySaving> result;
  for (const auto& [place, calls] : all.calls) {
    const auto costs = all.costs.find(place.second);
    if (costs == all.costs.end()) continue;
    if (result.empty() || result.back().entry != place.first) result.push_back({place.first, {}});
    record::SavedTime& sum = result.back().saved;
    const record::SavedTime saved = saved_by(costs->second, calls);
    // Classes are independent of each other.
    sum = {sum.calls + calls, sum.time_ns + saved.time_ns, std::hypot(sum.error_ns, saved.error_ns)};
  }
  return result;
}

}  // namespace millrace::shim
