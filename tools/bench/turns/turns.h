// One process in which MPI_X (Millrace's, where it takes the call) and PMPI_X (the host's own) take turns. Compiled
// with the mpi.h of a host (bench/turns) or with one of ours for all hosts of an ABI (tools/bench/rank).
#pragma once

#include <cstddef>
#include <functional>
#include <initializer_list>
#include <string>
#include <vector>

namespace turns {

// How the calls of a point are made:
//   hot    back to back on the same buffers; the time of all, divided
//   cold   what the call reads and writes is put out of every cache before it; the mean time of a call
//   apart  each rank comes up to 5 us late, by numbers that both sides share; the mean time that a rank spends in a
//          call
// Where ranks share cores, hot and apart: the time from the first rank's begin to the last one's end, apart without
// the work between calls, which is of processor time there. Who waits for a core waits in a call if it gives the core
// away there, and between calls if others keep it; and some may be through before others have begun.
enum class Mode { hot, cold, apart };

struct Memory {
  char* begin;
  std::size_t bytes;
};

struct Point {
  std::string kind;   // reduce_local, pack, messages, halos, collectives, rare, nonblocking
  std::string name;   // of the call, the op, the type
  std::size_t bytes;  // of data that the call moves or reduces, for one rank
  std::function<void(bool ours)> call;
  std::vector<Memory> touched;  // by this rank's call
};

// What nodes have sent to each other.
struct Sent {
  double packets = 0, bytes = 0;
};

// Mean times of a call on the slowest rank (apart: on all; hot and apart where ranks share cores: of all), and of a
// cache line between ranks 0 and 1.
struct Turn {
  double ours_us, host_us;
  double line_ns;             // 0: one rank, or not asked for
  Sent ours_sent, host_sent;  // by all nodes, for a call; nothing where it is not counted
};

struct Pace {
  int turns;
  long calls;  // of each side in a turn
};

struct Run {
  int rank, ranks;
  Mode mode = Mode::hot;
  bool shares_cores = false;  // ranks_share_cores()
  int turns = 11;
  double turn_us = 1000;            // that the calls of one side in one turn take
  double most_before_us = 100'000;  // that the calls of one side before the first turn take, about
  bool measures_line = false;
  bool few_sizes = false;                                // every other one of each list
  std::size_t most_buffer_bytes = std::size_t{1} << 32;  // what takes more, as blocks for many ranks do, is left out

  // What this rank's node has sent so far, asked on all ranks of a run over several nodes; nothing on all ranks of a
  // node but one. Without it nothing is counted.
  std::function<Sent()> sent;

  // On all ranks, with the same answer; a point that is not wanted takes no time.
  std::function<bool(const Point&)> wants = [](const Point&) { return true; };
  // On rank 0. Less than `full` where there is not enough time; `us_each` is that of a call of both sides, with what is
  // around it.
  std::function<Pace(Pace full, double us_each)> pace = [](Pace full, double) { return full; };
  std::function<void(const Point&, const std::vector<Turn>&)> report;
};

// Whether all ranks are on one node, so that they have one clock, and more than it has processors. On all ranks.
bool ranks_share_cores();

// All ranks call it with alike points.
void measure(const Run& run, const Point& point);

// Those of the list that are measured.
std::vector<std::size_t> sizes_of(const Run& run, std::initializer_list<std::size_t> all);

// A buffer on pages of its own, written once, and its end.
Memory buffer(std::size_t bytes);
void release(const Memory& memory);
// Bytes between the beginning of a page and that of buffers from here on.
void place_buffers(std::size_t offset_bytes);

void reduce_local(const Run& run);
void pack(const Run& run);
void messages(const Run& run);
void halos(const Run& run);
void collectives(const Run& run);
void nonblocking(const Run& run);

}  // namespace turns
