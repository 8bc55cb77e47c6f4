// MPICH 4. Fast where the message is eager, at a hundredth of the memory's speed beyond. Structures are received
// packed, but not sent so (packed/message.cpp). What the fields mean, and how they were measured, stands in
// host_facts.h.
#include "plan/hosts/hosts.h"

namespace millrace::plan::hosts {
namespace {

constexpr MessageRow messages[] = {
    {LayoutClass::mixed, {1000, 8 * kib}},           {LayoutClass::blocks_4, {64 * kib, any_size}},
    {LayoutClass::blocks_8, {64 * kib, any_size}},   {LayoutClass::blocks_32, {64 * kib, any_size}},
    {LayoutClass::blocks_1024, {8 * kib, 8 * kib}},  {LayoutClass::sparse, {64000, any_size}},
    {LayoutClass::list_short, {64 * kib, any_size}}, {LayoutClass::list_long, {64 * kib, any_size}},
};

constexpr CollectiveRow collectives[] = {
    {LayoutClass::blocks_4, from_64_kib, from_64_kib},  {LayoutClass::blocks_8, from_64_kib, from_64_kib},
    {LayoutClass::blocks_32, from_64_kib, from_64_kib}, {LayoutClass::blocks_128, from_64_kib, from_64_kib},
    {LayoutClass::sparse, from_64_kib, from_64_kib},    {LayoutClass::list_short, from_64_kib, from_64_kib},
    {LayoutClass::list_long, from_64_kib, from_64_kib},
};

}  // namespace

constinit const HostFacts mpich_4{
    .name = "MPICH 4",
    .vendor = Vendor::mpich,
    .major = 4,
    .messages = messages,
    .collectives = collectives,
    .bcast_by_one_copy = {128 * kib, mib - 1},
    .gathers_counted = true,
    .small_started_below = 1 * kib,
    .small_started_allreduce_below = 128,
    .gathers_once = true,
    .crossing_allgather = {1, 256 * kib},
    .crossing_alltoall = {1, 32 * kib},
    .crossing_reduce_scatter = {1, any_size},
    .crossing_scan = {1, any_size},
    .crossing_exscan = {1, 256 * kib},
    .reports_short_bcast = true,
};

}  // namespace millrace::plan::hosts
