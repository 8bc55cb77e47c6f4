// What it costs to use a machine. `millrace simulate --calibrate` measures most of it on the one that it runs on
// (calibrate.h); what is said here stands for what nobody measured (docs/model.md).
#pragma once

#include <algorithm>
#include <array>

namespace millrace::model {

// Of what a copy goes through, the parts that lie in a core's caches, in the last one, and beyond.
struct CachedParts {
  double own, last, beyond;
};

// Between two nodes, of the host MPI: what a small message takes, and how fast large ones go.
struct WireCosts {
  double latency_ns = 1500;
  double bytes_per_ns = 12;
};

struct Costs {
  // A cache line, from one core to another, by Distance. The first is nothing.
  std::array<double, 4> line_ns{0, 60, 110, 250};
  double next_line_ns = 12;          // of one more line that was asked for before the one before it came
  double ahead_ns = 60;              // of its own work that a core looks ahead for lines to ask for
  double serve_ns = 6;               // for so long a line that many ask for is with each of them
  double lines_at_once = 10;         // that a core fetches of another's memory
  double taken_at_once = 4;          // that a core writes and another has
  double copy_bytes_per_ns = 12;     // of one core, within its caches
  double cache_bytes = 2 << 20;      // of a core's caches
  double last_bytes_per_ns = 10;     // the same out of the last cache, which several share
  double last_cache_bytes = 0;       // of that one; no more than cache_bytes: as if there were none
  double memory_bytes_per_ns = 8;    // of one core, where its caches do not hold what it copies
  double package_bytes_per_ns = 96;  // of all cores of a package together
  double call_ns = 20;               // the instructions of a call
  double kernel_ns = 10;             // those of a reduction
  double system_call_ns = 600;       // to read another's memory
  double system_bytes_per_ns = 8;    // at which the kernel does it
  double switch_ns = 1500;           // from one rank to another on the same core

  CachedParts parts_of(double working_bytes) const {
    const auto part = [&](double bytes) { return working_bytes <= bytes ? 1 : bytes / working_bytes; };
    const double own = part(cache_bytes), both = std::max(own, part(last_cache_bytes));
    return {own, both - own, 1 - both};
  }
  double copy_rate(const CachedParts& parts) const {
    return 1 / (parts.own / copy_bytes_per_ns + parts.last / last_bytes_per_ns + parts.beyond / memory_bytes_per_ns);
  }
};

}  // namespace millrace::model
