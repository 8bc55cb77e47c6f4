// A machine that need not be here, and what it costs to use it.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

#include "shared_memory/topology.h"

namespace millrace::model {

// How far two cores are from each other.
enum class Distance : std::uint8_t { none, cache, package, across };

struct Machine {
  std::uint32_t packages = 1, caches = 1, cores = 1;  // all caches and all cores, of all packages

  std::uint32_t package_of(std::uint32_t core) const { return core / (cores / packages); }
  shared_memory::Place place(std::uint32_t core) const { return {{package_of(core), core / (cores / caches)}}; }
  Distance between(std::uint32_t core, std::uint32_t other) const;
};

// A synthetic topology as hwloc writes it: "pack:2 l3:8 core:8", or what `lstopo --of synthetic` prints of a real
// machine. "" or what is wrong with it.
std::string read_machine(std::string_view text, Machine& machine);

struct Costs {
  // From one core to another, by distance. The first is nothing; that within a cache is measured (docs/model.md), the
  // others are assumed.
  std::array<double, 4> line_ns{0, 60, 110, 250};
  double copy_bytes_per_ns = 12;     // of one core alone
  double package_bytes_per_ns = 96;  // of all cores of a package together: assumed
  double lines_at_once = 10;         // that a core fetches of another's memory
  double call_ns = 20;               // the instructions of a call
  double switch_ns = 1500;           // from one rank to another on the same core
};

}  // namespace millrace::model
