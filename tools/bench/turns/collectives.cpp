// Twelve collectives, all but one of nine sizes, on the world; roots are rank 0.
#include <mpi.h>

#include <algorithm>
#include <string>
#include <vector>

#include "tools/bench/turns/turns.h"

namespace turns {
namespace {

int size_of(MPI_Comm comm) {
  int size = 0;
  PMPI_Comm_size(comm, &size);
  return size;
}

// `bytes` are those of one rank's data: what it gives to a reduction, and in exchanges what goes to one other rank.
void call(char kind, bool ours, const Memory& in, const Memory& out, int doubles) {
  const MPI_Comm world = MPI_COMM_WORLD;  // NOLINT(misc-misplaced-const): handles are pointers with some hosts
  const MPI_Datatype type = MPI_DOUBLE;   // NOLINT(misc-misplaced-const)
  switch (kind) {
    case 'b': ours ? MPI_Barrier(world) : PMPI_Barrier(world); break;
    case 'B': (ours ? MPI_Bcast : PMPI_Bcast)(out.begin, doubles, type, 0, world); break;
    case 'r': (ours ? MPI_Reduce : PMPI_Reduce)(in.begin, out.begin, doubles, type, MPI_SUM, 0, world); break;
    case 'a': (ours ? MPI_Allreduce : PMPI_Allreduce)(in.begin, out.begin, doubles, type, MPI_SUM, world); break;
    case 'R':
      (ours ? MPI_Reduce_scatter_block : PMPI_Reduce_scatter_block)(in.begin, out.begin, doubles, type, MPI_SUM, world);
      break;
    case 'S': {
      const std::vector<int> counts(static_cast<std::size_t>(size_of(world)), doubles);
      (ours ? MPI_Reduce_scatter : PMPI_Reduce_scatter)(in.begin, out.begin, counts.data(), type, MPI_SUM, world);
      break;
    }
    case 'c': (ours ? MPI_Scan : PMPI_Scan)(in.begin, out.begin, doubles, type, MPI_SUM, world); break;
    case 'x': (ours ? MPI_Exscan : PMPI_Exscan)(in.begin, out.begin, doubles, type, MPI_SUM, world); break;
    case 'g': (ours ? MPI_Gather : PMPI_Gather)(in.begin, doubles, type, out.begin, doubles, type, 0, world); break;
    case 's': (ours ? MPI_Scatter : PMPI_Scatter)(in.begin, doubles, type, out.begin, doubles, type, 0, world); break;
    case 'G': (ours ? MPI_Allgather : PMPI_Allgather)(in.begin, doubles, type, out.begin, doubles, type, world); break;
    default: (ours ? MPI_Alltoall : PMPI_Alltoall)(in.begin, doubles, type, out.begin, doubles, type, world);
  }
}

struct Kind {
  char letter;
  const char* name;
  bool many_in, many_out;  // a block for each rank
};

}  // namespace

void collectives(const Run& run) {
  constexpr Kind kinds[] = {{'B', "Bcast", false, false},         {'r', "Reduce", false, false},
                            {'a', "Allreduce", false, false},     {'R', "Reduce_scatter_block", true, false},
                            {'S', "Reduce_scatter", true, false}, {'c', "Scan", false, false},
                            {'x', "Exscan", false, false},        {'g', "Gather", false, true},
                            {'s', "Scatter", true, false},        {'G', "Allgather", false, true},
                            {'A', "Alltoall", true, true}};
  const std::vector<std::size_t> sizes =
      sizes_of(run, {8, 64, 512, 2 << 10, 8 << 10, 32 << 10, 256 << 10, 1 << 20, 2 << 20});
  const auto ranks = static_cast<std::size_t>(run.ranks);
  const std::size_t most = std::clamp(sizes.back() * ranks, sizes.back(), run.most_buffer_bytes);
  const Memory in = buffer(most), out = buffer(most);
  if (run.mode != Mode::cold)
    measure(run, {"collectives", "Barrier", 0, [&](bool ours) { call('b', ours, in, out, 0); }, {}});
  for (const Kind& kind : kinds) {
    for (const std::size_t bytes : sizes) {
      const Memory from{in.begin, kind.many_in ? bytes * ranks : bytes},
          into{out.begin, kind.many_out ? bytes * ranks : bytes};
      if (std::max(from.bytes, into.bytes) > most) continue;
      measure(run, {"collectives",
                    kind.name,
                    bytes,
                    [&](bool ours) { call(kind.letter, ours, from, into, static_cast<int>(bytes / 8)); },
                    {from, into}});
    }
  }
  release(in);
  release(out);
}

}  // namespace turns
