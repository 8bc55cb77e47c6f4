// What was measured of a host: a file for each in hosts/, and a line in hosts/hosts.h. What is not listed there is the
// host's.
#pragma once

#include <cstdint>
#include <span>

#include "plan/host_version.h"
#include "plan/layout_collectives.h"
#include "plan/layout_messages.h"
#include "plan/op_substitution.h"

namespace millrace::plan {

struct SubstitutionRow {
  OpClass op_class;
  std::uint64_t least_bytes;
};

struct MessageRow {
  LayoutClass layout_class;
  MessageRange range;
};

struct CollectiveRow {
  LayoutClass layout_class;
  MessageRange spread, exchange;
};

// Blocks of "8 KiB" of whole columns are of 8000 bytes, those of "64 KiB" of 64000, and "1 KiB" of structures is 1020.
inline constexpr MessageRange from_1_kib{1000, any_size}, from_8_kib{8000, any_size}, from_64_kib{64000, any_size};
inline constexpr MessageRange only_1_kib{1000, 1 * kib}, no_size{};

struct HostFacts {
  const char* name;  // also in tables of `millrace tune`
  // Which versions it holds for; of several, the one with the highest `least_minor` counts.
  Vendor vendor = Vendor::unknown;
  int major = 0, least_minor = 0;

  // Measured by bench/op_substitution on 2 ranks (docs/results/op_substitution.md).
  std::span<const SubstitutionRow> substitutions{};

  // Measured by bench/layouts on two ranks of three processors (docs/results/layout_messages.md), of which the worst
  // counts: sizes of a row were won by 1.03 or more at both ends, in ping-pongs and in halos, and no size between lost
  // more than 0.03. Where the largest size measured, 4 MiB, was won, there is no limit but the memory for packed bytes
  // (MILLRACE_BUFFERS). `millrace tune` finds what the machine in use gains beyond that.
  std::span<const MessageRow> messages{};

  // Measured by bench/layouts/collective.c on two ranks of two processors, of which the worst counts
  // (docs/results/nonblocking_collectives.md): from the size on from which every call of the column won or drew.
  std::span<const CollectiveRow> collectives{};

  // Where the host was faster than shared memory of ours: bytes of a call or of a block (bench/collectives,
  // docs/results/collectives.md, docs/results/exchanges.md). `crowded`: some rank of the group has no core of its own.

  // Two ranks with a core each. A single copy out of the root's memory beats two through shared memory while both fit a
  // cache: by two we were at 0.74 to 0.95 of the host, by one of our own at 0.99 to 1.31; so only where we may not.
  MessageRange bcast_by_one_copy{};
  // The same whether we may or not. Intel MPI is ahead where nothing is in a cache: 0.67 to 0.84 of it cold, 0.70 to
  // 0.75 with rotating roots; hot we would be at 1.14 to 1.33.
  MessageRange bcast_of_two{};
  // Of MPI_Gather: 0.57 to 0.98 of Intel MPI on Zen 3, 4 and 5, with near lines and far ones.
  std::int64_t gather_of_two_from = any_size;
  // 0.85 to 0.93 of Intel MPI on 8 ranks of 2 cores; the second for more than 4 ranks.
  std::int64_t crowded_bcast_from = any_size, crowded_allreduce_from = any_size;

  // Where no rank knows the others' counts (MPI_Gatherv, Scatterv) such messages go through mailboxes: 0.51 to 0.88 of
  // Open MPI and Intel MPI, and to the root of MPICH 4.
  bool gathers_counted = false, scatters_counted = false;
  // With more ranks than cores, small messages to neighbours: 0.74 to 0.90 of Open MPI on 4 ranks of 2 cores (larger
  // ones 0.90 to 1.7).
  bool crowded_neighbors = false;

  // Nonblocking calls on two ranks of Zen 3 (bench/turns --kinds nonblocking): of large blocks 0.59 to 0.91 of Intel
  // MPI.
  MessageRange begun_bcast = no_size, begun_allgather = no_size;
  std::int64_t begun_blocks_from = any_size, begun_scatter_from = any_size;  // of MPI_Igather and Ialltoall; Iscatter
  // On two ranks of Zen 4 (--kinds persistent): MPI_Ineighbor_alltoall 0.65 to 0.98 of Intel MPI from 2 KiB on; a start
  // of MPI_Bcast_init, Allgather_init and Alltoall_init, whose messages are prepared, 0.53 to 0.91 where they are
  // small.
  bool begun_neighbors = false;
  std::int64_t small_started_below = 0;
  // The same of MPI_Allreduce_init on two ranks of Zen 5: 0.70 to 0.80.
  std::int64_t small_started_allreduce_below = 0;
  // Each start of MPI_Gather_init, and of MPI_Allgather_init of less than 512 KiB in all, sends what the first one
  // sent: not fast but wrong.
  bool gathers_once = false;

  // Over nodes, on two and three of two ranks that share two cores (bench/turns --nodes 2): where a step in each node
  // and one between them was faster, of a block, and of what a rank gives to MPI_Reduce_scatter(_block), MPI_Scan and
  // MPI_Exscan. 1.1 to 2.5, 1.0 to 1.5 and 0.86 to 3.9 of Open MPI, 1.2 to 18 of MPICH 4 and Intel MPI, sums of 1.26 to
  // 1.67 of MPICH 5. Others lost at some sizes, or in some launches.
  MessageRange crossing_allgather = no_size, crossing_alltoall = no_size, crossing_reduce_scatter = no_size;
  // Of MPI_Gather and MPI_Scatter, of the blocks of a node together: 1.1 to 2.7 of Open MPI on two and three nodes of
  // two; less, where many small ones are under way at a time, 0.4 to 0.9, more, which are asked for first, the same.
  MessageRange crossing_rooted = no_size;
  MessageRange crossing_scan = no_size, crossing_exscan = no_size;
  // Of a message between nodes, that goes without being asked for, less what a host puts before it, and
  // faster so than a longer one: pieces of large MPI_Bcasts (src/shim/node/line_along.cpp). 0: not known.
  std::uint32_t sent_at_once_bytes = 0;
  // Where nodes share processors, who waits gives the core away at once (decision 188): Quantum ESPRESSO 1.01 of Open
  // MPI, else 0.97. Ranks of MPICH 5 that wait in a call of their own keep it for a whole slice: the turns of 100
  // points took more than 160 s in both of two launches, else 110 to 130.
  bool gives_shared_core_away = false;

  // A rank whose buffer of MPI_Bcast is shorter than the root's message hears of it (shared/shared_bcast.cpp).
  bool reports_short_bcast = false;
};

// hosts::unknown where nothing was measured.
const HostFacts& host_facts(const HostVersion& version);

}  // namespace millrace::plan
