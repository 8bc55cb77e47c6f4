// A machine that need not be here.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "shared_memory/topology.h"

namespace millrace::model {

// How far two cores are from each other.
enum class Distance : std::uint8_t { none, cache, package, across };

struct Core {
  shared_memory::Place place{};  // numbers of its package and of its outermost cache, both from 0 on
  std::uint32_t threads = 1;     // processing units
};

struct Machine {
  std::uint32_t packages = 1, caches = 1;  // all caches, of all packages
  std::vector<Core> cores;

  std::uint32_t core_count() const { return static_cast<std::uint32_t>(cores.size()); }
  std::uint32_t threads() const;  // of all cores
  std::uint32_t package_of(std::uint32_t core) const { return cores[core].place.at[0]; }
  const shared_memory::Place& place(std::uint32_t core) const { return cores[core].place; }
  Distance between(std::uint32_t core, std::uint32_t other) const;
};

// Each returns "" or what is wrong, and then leaves the machine as it was.
//
// A synthetic topology as hwloc writes it: "pack:2 l3:8 core:8 pu:2", or what `lstopo --of synthetic` prints of a real
// machine. Machines of unequal parts are several of them with " + " in between; what has no packages goes on in the
// last package, what has no caches either in the last cache: "pack:1 l3:1 core:8 pu:2 + core:16".
std::string read_machine(std::string_view text, Machine& machine);
// A topology that hwloc has written as XML, version 1 or 2.
std::string read_hwloc_xml(std::string_view text, Machine& machine);
// The machine whose /sys is below `root`, as ranks see it that are bound to a core each.
std::string read_system(const std::string& root, Machine& machine);

// In the form of read_machine(), which gives an equal machine.
std::string machine_text(const Machine& machine);

// Cores with any numbers of packages and caches become a machine: in the order of these, numbered from 0 on.
std::string make_machine(std::vector<Core> cores, Machine& machine);

}  // namespace millrace::model
