#include "tools/doctor/reasons.h"

#include <algorithm>

namespace millrace::tools {
namespace {

constexpr ReasonWords table[] = {
    {"not_accelerated", "Millrace has nothing for such a call", ""},
    {"disabled", "MILLRACE_DISABLE names it", "take the name out of MILLRACE_DISABLE"},
    {"inactive", "made before MPI_Init or after MPI_Finalize", ""},
    {"type_not_covered", "there is no kernel for the datatype",
     "where the program can choose, a datatype that 'millrace info --types' lists"},
    {"op_not_covered", "there is no kernel for the operation, or it cannot be applied here",
     "where the program can choose, a predefined operation, which 'millrace info --types' lists"},
    {"invalid_argument", "wrong, empty, in place or at MPI_BOTTOM: the host MPI answers", ""},
    {"buffers_overlap", "what is sent and what is received share memory",
     "separate buffers for sending and receiving; MPI_Alltoall without MPI_IN_PLACE"},
    {"host_is_faster", "the host MPI was measured to be as fast, or there is nothing to share",
     "'millrace learn -- COMMAND' measures on this machine who does the job's collectives faster, and keeps it"},
    {"host_was_faster", "measured in this job: the host MPI does them faster", ""},
    {"tried", "done by the host MPI once more, to measure how fast it is", ""},
    {"large_count", "too much data for one call",
     "several smaller calls; the limit is 2 GiB for a broadcast, a block or a message"},
    {"first_use", "the first call with a new datatype, which is compiled then",
     "make datatypes once and keep them, instead of making the same ones for each call"},
    {"no_buffer", "messages under way had used up the memory that they may have",
     "more memory for packed messages: a higher MILLRACE_BUFFERS"},
    {"not_agreed", "the ranks had not agreed to share memory, as in the first calls on a communicator", ""},
    {"settings_differ", "the ranks were given different MILLRACE_ settings",
     "the same MILLRACE_ settings for all ranks: 'mpirun -x NAME' (Open MPI) or '-genv NAME VALUE' (MPICH, Intel MPI)"},
    {"no_shared_memory", "the system gave no shared memory",
     "permit memfd_create, or enlarge /dev/shm (of a container: --shm-size)"},
    {"intercommunicator", "between two groups of ranks, which is the host MPI's", ""},
    {"device_memory", "the data is in the memory of a GPU", ""},
    {"fault_tolerance", "the host MPI was told to survive ranks that fail",
     "if the program does not need that: no '--with-ft' (Open MPI), no MPIR_CVAR_ENABLE_FT (MPICH)"},
    {"unseen_completion", "a tool or library may complete it where Millrace does not see it",
     "MILLRACE_LOG=info says which one that is: leave it out, or put it behind Millrace (docs/layouts.md)"},
    {"unseen_calls", "the program or a library calls PMPI names of collectives",
     "MILLRACE_LOG=info says who does; if all ranks do so in the same calls: MILLRACE_PMPI=alike"},
    {"repeated_neighbors", "two ranks are neighbours more than once",
     "no periodic dimensions of one or two ranks, and no edge twice"},
    {"not_over_nodes", "its ranks are on several nodes, where Millrace does not do this call", ""},
};

}  // namespace

std::span<const ReasonWords> all_reasons() { return table; }

const ReasonWords* reason_words(std::string_view name) {
  const auto found = std::ranges::find(table, name, &ReasonWords::name);
  return found == std::end(table) ? nullptr : found;
}

std::string why_in_words(std::string_view name) {
  const ReasonWords* const words = reason_words(name);
  return words ? words->why : std::string(name);
}

}  // namespace millrace::tools
