#include "shared_memory/topology.h"

#include <bit>
#include <cinttypes>
#include <cstdio>
#include <cstring>
#include <mutex>

#include "shared_memory/processors.h"

namespace millrace::shared_memory {
namespace {

std::uint32_t read_number(const char* path) {
  std::FILE* const file = std::fopen(path, "re");
  if (!file) return unknown_place;
  unsigned number = 0;
  const bool found = std::fscanf(file, "%u", &number) == 1;
  std::fclose(file);
  return found ? number : unknown_place;
}

// The lowest processor of a mask as the kernel writes it: "00000000,000000f0", the highest 32 processors first.
std::uint32_t read_lowest_of_mask(const char* path) {
  std::FILE* const file = std::fopen(path, "re");
  if (!file) return unknown_place;
  std::uint32_t word = 0, lowest = unknown_place;
  while (std::fscanf(file, "%8" SCNx32, &word) == 1) {
    if (lowest != unknown_place) lowest += 32;
    if (word != 0) lowest = static_cast<std::uint32_t>(std::countr_zero(word));
    if (std::fgetc(file) != ',') break;
  }
  std::fclose(file);
  return lowest;
}

// The lowest processor of those that share something; POWER and old kernels have no lists.
std::uint32_t read_lowest(const char* list, const char* mask) {
  const std::uint32_t lowest = read_number(list);
  return lowest != unknown_place ? lowest : read_lowest_of_mask(mask);
}

Place place_of(const char* root, std::size_t cpu) {
  char path[400];
  Place place{};
  std::snprintf(path, sizeof path, "%s/sys/devices/system/cpu/cpu%zu/topology/physical_package_id", root, cpu);
  place.at[0] = read_number(path);
  // The outermost cache has the highest index. It is called as the lowest processor that shares it: not all kernels
  // give caches an id (Arm, POWER), and ids of caches of two levels may be equal, while on some processors not all
  // cores have the same levels.
  place.at[1] = unknown_place;
  char mask[400];
  for (int index = 9; index >= 0 && place.at[1] == unknown_place; --index) {
    std::snprintf(path, sizeof path, "%s/sys/devices/system/cpu/cpu%zu/cache/index%d/shared_cpu_list", root, cpu,
                  index);
    std::snprintf(mask, sizeof mask, "%s/sys/devices/system/cpu/cpu%zu/cache/index%d/shared_cpu_map", root, cpu, index);
    place.at[1] = read_lowest(path, mask);
  }
  return place;
}

}  // namespace

Place place_on(const Processors& processors, const char* root) {
  Place common{{unknown_place, unknown_place}};
  bool first = true;
  for (std::size_t cpu = 0; cpu < most_processors; ++cpu) {
    if ((processors.mask[cpu / 64] >> (cpu % 64) & 1) == 0) continue;
    const Place place = place_of(root, cpu);
    for (std::size_t level = 0; level < place_levels; ++level)
      if (first) {
        common.at[level] = place.at[level];
      } else if (common.at[level] != place.at[level]) {
        common.at[level] = unknown_place;
      }
    first = false;
    if (common.at[0] == unknown_place && common.at[1] == unknown_place) break;
  }
  return common;
}

std::uint32_t core_of(std::uint32_t processor, const char* root) {
  char list[400], mask[400];
  std::snprintf(list, sizeof list, "%s/sys/devices/system/cpu/cpu%u/topology/thread_siblings_list", root, processor);
  std::snprintf(mask, sizeof mask, "%s/sys/devices/system/cpu/cpu%u/topology/thread_siblings", root, processor);
  const std::uint32_t lowest = read_lowest(list, mask);
  return lowest != unknown_place ? lowest : processor;
}

Place own_place(const char* root) {
  const Processors processors = own_processors();
  if (*root) return place_on(processors, root);
  // A machine does not change, and a rank seldom moves: a dozen files for each processor are read once.
  static std::mutex& reading = *new std::mutex;  // never destroyed: who asks may be another library's destructor
  static Processors known_for;
  static Place known;
  static bool is_known = false;
  const std::lock_guard hold(reading);
  if (!is_known || std::memcmp(known_for.mask, processors.mask, sizeof known_for.mask) != 0) {
    known = place_on(processors, root);
    known_for = processors;
    is_known = true;
  }
  return known;
}

}  // namespace millrace::shared_memory
