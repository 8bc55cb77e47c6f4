// Open MPI 5. Packs as version 4, and single messages of short blocks faster. What the fields mean, and how they
// were measured, stands in host_facts.h.
#include "plan/hosts/hosts.h"

namespace millrace::plan::hosts {
namespace {

constexpr SubstitutionRow substitutions[] = {
    {OpClass::logical, 4096},
};

constexpr MessageRow messages[] = {
    {LayoutClass::mixed, {1000, any_size}},
    {LayoutClass::blocks_8, {1 * kib, 1 * kib}},
    {LayoutClass::sparse, {1 * kib, 1 * kib}},
    {LayoutClass::list_short, {1 * kib, any_size}},
};

constexpr CollectiveRow collectives[] = {
    {LayoutClass::mixed, from_1_kib, from_1_kib},      {LayoutClass::blocks_4, only_1_kib, from_1_kib},
    {LayoutClass::blocks_8, only_1_kib, from_1_kib},   {LayoutClass::sparse, no_size, from_64_kib},
    {LayoutClass::list_short, from_1_kib, from_1_kib},
};

}  // namespace

constinit const HostFacts openmpi_5{
    .name = "Open MPI 5",
    .vendor = Vendor::openmpi,
    .major = 5,
    .substitutions = substitutions,
    .messages = messages,
    .collectives = collectives,
    .bcast_by_one_copy = {128 * kib, mib - 1},
    .gathers_counted = true,
    .scatters_counted = true,
    .crowded_neighbors = true,
    .small_started_below = 512,
    .crossing_allgather = {32 * kib, any_size},
    .crossing_alltoall = {1, 8 * kib},
    .crossing_reduce_scatter = {32 * kib, any_size},
    .crossing_rooted = {1 * kib, 16 * kib},
    .sent_at_once_bytes = 63'000,
    .gives_shared_core_away = true,
};

}  // namespace millrace::plan::hosts
