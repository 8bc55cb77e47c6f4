#include "shared_memory/topology.h"

#include <bit>
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

Place place_of(const char* root, std::size_t cpu) {
  char path[400];
  Place place{};
  std::snprintf(path, sizeof path, "%s/sys/devices/system/cpu/cpu%zu/topology/physical_package_id", root, cpu);
  place.at[0] = read_number(path);
  // The outermost cache has the highest index.
  place.at[1] = unknown_place;
  for (int index = 9; index >= 0 && place.at[1] == unknown_place; --index) {
    std::snprintf(path, sizeof path, "%s/sys/devices/system/cpu/cpu%zu/cache/index%d/id", root, cpu, index);
    place.at[1] = read_number(path);
  }
  return place;
}

Place place_of_all(const char* root, const Processors& processors) {
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

}  // namespace

Place own_place(const char* root) {
  const Processors processors = own_processors();
  if (*root) return place_of_all(root, processors);
  // A machine does not change, and a rank seldom moves: a dozen files for each processor are read once.
  static std::mutex& reading = *new std::mutex;  // never destroyed: who asks may be another library's destructor
  static Processors known_for;
  static Place known;
  static bool is_known = false;
  const std::lock_guard hold(reading);
  if (!is_known || std::memcmp(known_for.mask, processors.mask, sizeof known_for.mask) != 0) {
    known = place_of_all(root, processors);
    known_for = processors;
    is_known = true;
  }
  return known;
}

}  // namespace millrace::shared_memory
