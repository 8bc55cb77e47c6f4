// MPICH 4. Fast where the message is eager, at a hundredth of the memory's speed beyond. Structures are received
// packed, but not sent so (packed/message.cpp). What the fields mean, and how they were measured, stands in
// host_facts.h.
#include "plan/hosts/hosts.h"

namespace millrace::plan::hosts {
namespace {

constexpr MessageRow messages[] = {
    {LayoutClass::mixed, {1, any_size}},
    {LayoutClass::blocks_4, {8 * kib, any_size}},
    {LayoutClass::blocks_8, {8 * kib, any_size}},
    {LayoutClass::blocks_32, {64 * kib, any_size}},
    {LayoutClass::blocks_128, {64 * kib, 64 * kib}},
    {LayoutClass::blocks_1024, {8 * kib, 8 * kib}},
    {LayoutClass::sparse, {60 * kib, any_size}},
    {LayoutClass::list_short, {64 * kib, any_size}},
    {LayoutClass::list_long, {64 * kib, any_size}},
};

constexpr MessageRow amd_messages[] = {
    {LayoutClass::blocks_4, {1 * kib, any_size}},
    {LayoutClass::blocks_32, {8 * kib, any_size}},
    {LayoutClass::sparse, {16000, any_size}},
    {LayoutClass::list_short, {16 * kib, any_size}},
};

constexpr CollectiveRow collectives[] = {
    {LayoutClass::mixed, every_size, every_size},        {LayoutClass::blocks_4, from_1_kib, from_1_kib},
    {LayoutClass::blocks_8, from_8_kib, from_8_kib},     {LayoutClass::blocks_32, from_8_kib, from_8_kib},
    {LayoutClass::blocks_128, from_64_kib, from_64_kib}, {LayoutClass::sparse, from_8_kib, from_8_kib},
    {LayoutClass::list_short, from_64_kib, from_64_kib}, {LayoutClass::list_long, from_8_kib, from_8_kib},
};

}  // namespace

constinit const HostFacts mpich_4{
    .name = "MPICH 4",
    .vendor = Vendor::mpich,
    .major = 4,
    .messages = messages,
    .amd_messages = amd_messages,
    .collectives = collectives,
    .bcast_by_one_copy = {128 * kib, mib - 1},
    .small_gather_below = 4 * kib,
    .middle_gather = {32 * kib + 1, 2 * mib - 1},
    .reports_short_bcast = true,
};

}  // namespace millrace::plan::hosts
