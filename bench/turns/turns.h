// One process in which MPI_X (Millrace's, where it takes the call) and PMPI_X (the host's own) take turns.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

namespace turns {

// How the calls of a point are made:
//   hot    back to back on the same buffers; the time of all, divided
//   cold   what the call reads and writes is put out of every cache before it; the mean time of a call
//   apart  each rank comes up to 5 us late, by numbers that both sides share; the mean time that a rank spends in a
//   call
enum class Mode { hot, cold, apart };

struct Memory {
  char* begin;
  std::size_t bytes;
};

struct Point {
  std::string kind;   // reduce_local, pack, messages, collectives, rare, nonblocking
  std::string name;   // of the call, the op, the type
  std::size_t bytes;  // of data that the call moves or reduces, for one rank
  std::function<void(bool ours)> call;
  std::vector<Memory> touched;  // by this rank's call
};

struct Run {
  int rank, ranks;
  int turns;
  double turn_us;  // that the calls of one side in one turn take
  Mode mode;
};

// Prints on rank 0, for each turn, "kind name bytes turn ours_us host_us line_ns": the mean time of a call on the
// slowest rank (apart: on all), and of a cache line between ranks 0 and 1 (0: one rank). All ranks call it with alike
// points.
void measure(const Run& run, const Point& point);

// A buffer on pages of its own, written once, and its end.
Memory buffer(std::size_t bytes);
void release(const Memory& memory);
// Bytes between the beginning of a page and that of buffers from here on.
void place_buffers(std::size_t offset_bytes);

void reduce_local(const Run& run);
void pack(const Run& run);
void messages(const Run& run);
void collectives(const Run& run);
void rare(const Run& run);
void nonblocking(const Run& run);

}  // namespace turns
