// Ping-pongs of types between pairs of ranks, there and back. The last of an odd number of ranks looks on.
#include <mpi.h>

#include <cstdlib>

#include "tools/bench/turns/turns.h"
#include "tools/bench/turns/types.h"

namespace turns {

void messages(const Run& run) {
  const int other = run.rank ^ 1;
  if (run.ranks < 2) return;
  for (const std::size_t bytes : sizes_of(run, {8, 256, 8 << 10, 64 << 10, 1 << 20})) {
    std::vector<Type> types;
    if (bytes >= 256) types = types_of(bytes);
    MPI_Datatype contiguous;
    MPI_Type_contiguous(static_cast<int>(bytes / 8), MPI_DOUBLE, &contiguous);
    MPI_Type_commit(&contiguous);
    types.push_back({"contiguous", contiguous, bytes, bytes});
    for (const Type& type : types) {
      const Memory memory = buffer(type.extent);
      measure(run, {"messages",
                    type.name,
                    type.bytes,
                    [&, handle = type.handle](bool ours) {
                      if (other >= run.ranks) return;
                      const auto send = ours ? MPI_Send : PMPI_Send;
                      const auto receive = ours ? MPI_Recv : PMPI_Recv;
                      if (run.rank < other) send(memory.begin, 1, handle, other, 7, MPI_COMM_WORLD);
                      receive(memory.begin, 1, handle, other, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
                      if (run.rank > other) send(memory.begin, 1, handle, other, 7, MPI_COMM_WORLD);
                    },
                    {memory}});
      release(memory);
    }
  }
}

}  // namespace turns
