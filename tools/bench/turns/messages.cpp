// Types between pairs of ranks, there and back, or both ways at once. The last of an odd number of ranks looks on.
#include <mpi.h>

#include <cstdlib>

#include "tools/bench/turns/host_requests.h"
#include "tools/bench/turns/turns.h"
#include "tools/bench/turns/types.h"

namespace turns {
namespace {

// Between this rank and the other one, of one element at `memory`, and another one so many bytes behind it.
using Exchange = void (*)(bool ours, char* memory, std::size_t second, MPI_Datatype type, int rank, int other);

void there_and_back(bool ours, char* memory, std::size_t, MPI_Datatype type, int rank, int other) {
  const auto send = ours ? MPI_Send : PMPI_Send;
  const auto receive = ours ? MPI_Recv : PMPI_Recv;
  if (rank < other) send(memory, 1, type, other, 7, MPI_COMM_WORLD);
  receive(memory, 1, type, other, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  if (rank > other) send(memory, 1, type, other, 7, MPI_COMM_WORLD);
}

void both_ways(bool ours, char* memory, std::size_t second, MPI_Datatype type, int, int other) {
  MPI_Request requests[2];
  (ours ? MPI_Irecv : PMPI_Irecv)(memory + second, 1, type, other, 8, MPI_COMM_WORLD, &requests[0]);
  (ours ? MPI_Isend : PMPI_Isend)(memory, 1, type, other, 8, MPI_COMM_WORLD, &requests[1]);
  (ours ? MPI_Waitall : host_requests().waitall)(2, requests, MPI_STATUSES_IGNORE);
}

void measure_types(const Run& run, const char* kind, Exchange exchange, std::size_t buffers) {
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
      const std::size_t each = (type.extent + 63) / 64 * 64;
      const Memory memory = buffer(buffers * each);
      measure(run, {kind,
                    type.name,
                    type.bytes,
                    [&](bool ours) {
                      if (other < run.ranks) exchange(ours, memory.begin, each, type.handle, run.rank, other);
                    },
                    {memory}});
      release(memory);
    }
  }
}

}  // namespace

void messages(const Run& run) { measure_types(run, "messages", there_and_back, 1); }
void halos(const Run& run) { measure_types(run, "halos", both_ways, 2); }

}  // namespace turns
