// MPICH 5. What the fields mean, and how they were measured, stands in host_facts.h.
#include "plan/hosts/hosts.h"

namespace millrace::plan::hosts {
namespace {

constexpr MessageRow messages[] = {
    {LayoutClass::mixed, {1000, any_size}},          {LayoutClass::blocks_4, {8 * kib, any_size}},
    {LayoutClass::blocks_8, {8 * kib, any_size}},    {LayoutClass::blocks_32, {8 * kib, any_size}},
    {LayoutClass::blocks_128, {8 * kib, 512 * kib}}, {LayoutClass::blocks_1024, {8 * kib, 512 * kib}},
    {LayoutClass::sparse, {64000, any_size}},        {LayoutClass::list_short, {8 * kib, any_size}},
    {LayoutClass::list_long, {64 * kib, any_size}},
};

constexpr CollectiveRow collectives[] = {
    {LayoutClass::mixed, from_1_kib, from_1_kib},       {LayoutClass::blocks_4, from_8_kib, from_8_kib},
    {LayoutClass::blocks_8, from_8_kib, from_8_kib},    {LayoutClass::blocks_32, from_8_kib, from_8_kib},
    {LayoutClass::blocks_128, from_8_kib, from_8_kib},  {LayoutClass::blocks_1024, from_8_kib, from_8_kib},
    {LayoutClass::sparse, from_64_kib, from_64_kib},    {LayoutClass::list_short, from_8_kib, from_8_kib},
    {LayoutClass::list_long, from_64_kib, from_64_kib},
};

}  // namespace

constinit const HostFacts mpich_5{
    .name = "MPICH 5",
    .vendor = Vendor::mpich,
    .major = 5,
    .messages = messages,
    .collectives = collectives,
    .crossing_reduce_scatter = {mib, any_size},
    .crossing_scan = {1, any_size},
    .sent_at_once_bytes = 63'000,
    .reports_short_bcast = true,
};

}  // namespace millrace::plan::hosts
