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
    {LayoutClass::mixed, {1, any_size}},
    {LayoutClass::blocks_4, {1 * kib, any_size}},
    {LayoutClass::blocks_8, {8 * kib, any_size}},
    {LayoutClass::blocks_32, {64 * kib, 64 * kib}},
    {LayoutClass::blocks_128, {64 * kib, 64 * kib}},
    {LayoutClass::list_short, {1 * kib, any_size}},
};

constexpr MessageRow amd_messages[] = {
    {LayoutClass::blocks_8, {1 * kib, any_size}},   {LayoutClass::blocks_32, {1 * kib, any_size}},
    {LayoutClass::blocks_128, {16 * kib, 1 * mib}}, {LayoutClass::blocks_1024, {16 * kib, 1 * mib}},
    {LayoutClass::sparse, {1 * kib, any_size}},     {LayoutClass::list_long, {2 * kib, 128 * kib}},
};

constexpr CollectiveRow collectives[] = {
    {LayoutClass::mixed, every_size, every_size},      {LayoutClass::blocks_4, from_1_kib, from_1_kib},
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
    .amd_messages = amd_messages,
    .collectives = collectives,
    .bcast_by_one_copy = {128 * kib, mib - 1},
    .small_gather_below = 512,
    .small_scatter_below = 512,
    .crowded_alltoall_below = 4 * kib,
    .crowded_neighbors = true,
    .middle_gather = {32 * kib + 1, 2 * mib - 1},
};

}  // namespace millrace::plan::hosts
