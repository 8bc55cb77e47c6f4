// Intel MPI 2021. What the fields mean, and how they were measured, stands in host_facts.h.
#include "plan/hosts/hosts.h"

namespace millrace::plan::hosts {
namespace {

constexpr MessageRow messages[] = {
    {LayoutClass::mixed, {1000, any_size}},         {LayoutClass::blocks_4, {1 * kib, any_size}},
    {LayoutClass::blocks_8, {1 * kib, any_size}},   {LayoutClass::blocks_32, {8 * kib, 512 * kib}},
    {LayoutClass::blocks_128, {8 * kib, 64 * kib}}, {LayoutClass::sparse, {1 * kib, any_size}},
    {LayoutClass::list_short, {1 * kib, any_size}}, {LayoutClass::list_long, {8 * kib, any_size}},
};

constexpr CollectiveRow collectives[] = {
    {LayoutClass::mixed, from_1_kib, from_1_kib},     {LayoutClass::blocks_4, from_64_kib, from_8_kib},
    {LayoutClass::blocks_8, from_8_kib, from_8_kib},  {LayoutClass::blocks_32, no_size, from_8_kib},
    {LayoutClass::sparse, from_64_kib, from_8_kib},   {LayoutClass::list_short, from_1_kib, from_1_kib},
    {LayoutClass::list_long, from_8_kib, from_8_kib},
};

}  // namespace

constinit const HostFacts intel{
    .name = "Intel MPI 2021",
    .vendor = Vendor::intel,
    .major = 2021,
    .messages = messages,
    .collectives = collectives,
    .bcast_of_two = {64 * kib, mib - 1},
    .gather_of_two_from = mib,
    .crowded_bcast_from = 16 * mib,
    .crowded_allreduce_from = 2 * mib,
    .gathers_counted = true,
    .scatters_counted = true,
    .begun_bcast = {512 * kib, any_size},
    .begun_allgather = {128 * kib, mib - 1},
    .begun_blocks_from = 128 * kib,
    .begun_scatter_from = 16 * kib,
    .begun_neighbors = true,
    .gathers_once = true,
    .crossing_allgather = {1, any_size},
    .crossing_alltoall = {1, 32 * kib},
    .crossing_reduce_scatter = {1, any_size},
    .crossing_scan = {1, any_size},
    .crossing_exscan = {1, any_size},
};

}  // namespace millrace::plan::hosts
