// Where ranks run, as far as trees care. Plain data: tests write it down for machines that are not there.
#pragma once

#include <cstddef>
#include <cstdint>

namespace millrace::shared_memory {

inline constexpr std::size_t place_levels = 2;

// Ranks with equal numbers at a level share that part of the machine. unknown_place where a rank may move.
struct Place {
  std::uint32_t at[place_levels];  // 0: socket, 1: last-level cache
};
inline constexpr std::uint32_t unknown_place = ~std::uint32_t{0};

struct Processors;

// Of whoever may run on these processors, from sysfs (`root` stands before /sys: a recorded machine).
Place place_on(const Processors& processors, const char* root);
// The lowest processor of the core that `processor` is of.
std::uint32_t core_of(std::uint32_t processor, const char* root);

// Of the calling thread, from its affinity mask and sysfs (`root` stands before /sys, for tests).
Place own_place(const char* root = "");

}  // namespace millrace::shared_memory
