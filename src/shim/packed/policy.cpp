#include "shim/packed/policy.h"

#include <array>
#include <string>

#include "base/clock.h"
#include "base/settings.h"
#include "plan/layout_collectives.h"
#include "shim/host/fault_tolerance.h"
#include "shim/host/library_version.h"
#include "shim/host/tuning.h"

namespace millrace::shim {

namespace {

When when_to_pack = When::automatic, when_to_measure = When::never;
std::uint64_t begin_ns = 0;

// What does not change while the process runs.
struct Policy {
  std::array<plan::MessageRanges, 3> ranges{};  // by Traffic
  bool refuses_cut_elements = false;
  bool survives_failures = false;
  When when = When::automatic;
};

const Policy& policy() {
  static const Policy chosen = [] {
    const plan::HostVersion& version = host_version();
    const plan::HostFacts& facts = host_facts();
    return Policy{
        {tuning().ranges(facts), plan::collective_ranges(facts, plan::CollectiveClass::spread),
         plan::collective_ranges(facts, plan::CollectiveClass::exchange)},
        version.vendor == plan::Vendor::mpich && (version.major == 3 || (version.major == 4 && version.minor == 0)),
        host_survives_failures(),
        when_to_pack};
  }();
  return chosen;
}

}  // namespace

void use_layouts(When when, When measure) {
  when_to_pack = when;
  when_to_measure = measure;
  begin_ns = monotonic_ns();
}

bool messages_are_measured() {
  return when_to_measure != When::never && policy().when == When::automatic && !policy().survives_failures;
}
std::uint64_t layouts_begin_ns() { return begin_ns; }
bool messages_are_measured_eagerly() { return when_to_measure == When::always; }

record::Reason policy_on(const layout::Layout& layout, bool is_mixed, std::int64_t count, std::int64_t bytes, Goes goes,
                         Traffic traffic) {
  const Policy& chosen = policy();
  // MPICH 4.0 cannot receive contiguous bytes into a type whose elements its transport cuts (UCX's fragments are of
  // 8256 bytes): it reports a truncated message, also where no Millrace is near. Who receives ours may be such a rank.
  if (chosen.refuses_cut_elements && is_mixed && goes == Goes::out) return record::Reason::type_not_covered;
  // A receive that has failed may still get its data (Open MPI says that a receive from any source has failed, pending,
  // and goes on with it), or may not: only the host knows what became of the buffer.
  if (chosen.survives_failures) return record::Reason::fault_tolerance;
  bool pays = chosen.when == When::always;
  if (chosen.when == When::automatic) {
    // Where the whole exchange was measured to be faster.
    const plan::LayoutClass layout_class =
        plan::layout_class(is_mixed, layout.is_list(), layout.mean_block_bytes(), bytes, layout.touched_bytes(count));
    pays = chosen.ranges[static_cast<std::size_t>(traffic)][static_cast<std::size_t>(layout_class)].holds(bytes);
  }
  return pays ? record::Reason::none : record::Reason::host_is_faster;
}

}  // namespace millrace::shim
