// Open MPI 4. Packs vectors in pieces while they travel: hard to beat with long blocks. What the fields mean, and
// how they were measured, stands in host_facts.h.
#include "plan/hosts/hosts.h"

namespace millrace::plan::hosts {
namespace {

constexpr SubstitutionRow substitutions[] = {
    {OpClass::bitwise, 4096},
    {OpClass::logical, 4096},
    {OpClass::complex_sum, 4096},
    {OpClass::complex_product, 4096},
};

constexpr MessageRow messages[] = {
    {LayoutClass::mixed, {1000, any_size}},
    {LayoutClass::blocks_4, {1 * kib, any_size}},
    {LayoutClass::blocks_8, {8 * kib, any_size}},
    {LayoutClass::list_short, {1 * kib, 256 * kib}},
};

constexpr CollectiveRow collectives[] = {
    {LayoutClass::mixed, from_1_kib, from_1_kib},      {LayoutClass::blocks_4, from_1_kib, from_1_kib},
    {LayoutClass::blocks_8, from_64_kib, from_8_kib},  {LayoutClass::sparse, from_64_kib, from_64_kib},
    {LayoutClass::list_short, from_1_kib, from_1_kib},
};

}  // namespace

constinit const HostFacts openmpi_4{
    .name = "Open MPI 4",
    .vendor = Vendor::openmpi,
    .major = 4,
    .substitutions = substitutions,
    .messages = messages,
    .collectives = collectives,
    .bcast_by_one_copy = {128 * kib, mib - 1},
    .gathers_counted = true,
    .scatters_counted = true,
    .crowded_neighbors = true,
    .crossing_allgather = {1, any_size},
    .crossing_alltoall = {1, 8 * kib},
    .crossing_reduce_scatter = {32 * kib, any_size},
    .crossing_rooted = {1 * kib, 16 * kib},
    .sent_at_once_bytes = 63'000,
    .gives_shared_core_away = true,
};

}  // namespace millrace::plan::hosts
