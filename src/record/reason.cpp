#include <array>

#include "record/record.h"

namespace millrace::record {
namespace {

struct ReasonWords {
  const char* name;
  const char* text;
};

// In the order of the enumeration; the array's length is checked below.
constexpr std::array table{
    ReasonWords{"none", "taken"},
    ReasonWords{"not_accelerated", "not accelerated"},
    ReasonWords{"disabled", "disabled"},
    ReasonWords{"inactive", "outside MPI_Init..MPI_Finalize"},
    ReasonWords{"type_not_covered", "datatype not covered"},
    ReasonWords{"op_not_covered", "op not covered"},
    ReasonWords{"invalid_argument", "invalid argument"},
    ReasonWords{"buffers_overlap", "buffers overlap"},
    ReasonWords{"host_is_faster", "host is faster"},
    ReasonWords{"host_was_faster", "host was faster in this job"},
    ReasonWords{"tried", "tried, to compare"},
    ReasonWords{"large_count", "large count"},
    ReasonWords{"first_use", "first use of a datatype"},
    ReasonWords{"no_buffer", "no buffer left"},
    ReasonWords{"not_agreed", "ranks not agreed"},
    ReasonWords{"settings_differ", "ranks' settings differ"},
    ReasonWords{"no_shared_memory", "no shared memory"},
    ReasonWords{"intercommunicator", "intercommunicator"},
    ReasonWords{"device_memory", "device memory"},
    ReasonWords{"fault_tolerance", "fault tolerance is on"},
    ReasonWords{"unseen_completion", "completed behind Millrace"},
    ReasonWords{"repeated_neighbors", "neighbours more than once"},
    ReasonWords{"unseen_calls", "calls made behind Millrace"},
    ReasonWords{"not_over_nodes", "not over several nodes"},
};
static_assert(table.size() == reason_count);

const ReasonWords& words(Reason reason) {
  static constexpr ReasonWords unknown{"unknown", "unknown"};
  const auto index = static_cast<std::size_t>(reason);
  return index < table.size() ? table[index] : unknown;
}

}  // namespace

const char* reason_name(Reason reason) { return words(reason).name; }
const char* reason_text(Reason reason) { return words(reason).text; }

}  // namespace millrace::record
