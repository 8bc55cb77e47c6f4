// Collectives that reduce nothing, on communicators of several shapes and topologies, with blocks and layouts drawn at
// random from a seed that every rank knows. Every call is made twice, as MPI_ and as PMPI_ (which Millrace does not
// take), and both must leave the same bytes in the whole of their buffers: in the data and in everything between.
//
// Arguments: the seed, the number of calls, which calls (all, or the name of one), the most bytes of a block. Prints
// one line for each mistake (at most MOST_COMPLAINTS a rank, or 5), then "done" if there was none.
#include <mpi.h>

#include <cstdio>
#include <cstdlib>
#include <string>

#include "exchange_case.h"

namespace {

void one_call(const std::string& name, const Comm& comm, int call) {
  Case one(name, comm, call);
  if (one.avoided()) return;
  const bool ours_first = call % 2 == 0;
  for (const bool ours : {ours_first, !ours_first})
    if (const int error = one.blocking(ours); error != MPI_SUCCESS && mistakes++ < most_complaints())
      std::printf("rank %d: %s on %s, call %d: error %d\n", world_rank, name.c_str(), comm.name.c_str(), call, error);
  one.compare();
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &world_rank);
  MPI_Comm_size(MPI_COMM_WORLD, &world_ranks);
  seed = argc > 1 ? std::strtoull(argv[1], nullptr, 10) : 1;
  const int calls = argc > 2 ? std::atoi(argv[2]) : 200;
  const std::string which = argc > 3 ? argv[3] : "all";
  if (argc > 4) most_block_bytes = std::atoi(argv[4]);
  know_host();
  // Those of Intel MPI lose bytes of some blocks, or take them for too long, when the two sides' types differ.
  const bool without_regular_gathers = which == "all" && argc > 4 && is_intel;
  make_communicators();
  // The ranks of a half do not know what those of the other do: everybody draws the same.
  Random random(seed);
  for (int call = 0; call < calls; ++call) {
    const std::string name =
        which == "all" ? names[static_cast<std::size_t>(random.below(static_cast<int>(names.size())))] : which;
    if (without_regular_gathers && (name == "Gather" || name == "Allgather")) continue;
    // The first six are for all calls, from the fourth on they have a topology.
    const bool neighbor = name.starts_with("Neighbor");
    const int place = neighbor ? 3 + random.below(static_cast<int>(comms.size()) - 3) : random.below(6);
    const Comm& comm = comms[static_cast<std::size_t>(place)];
    if (comm.handle != MPI_COMM_NULL) one_call(name, comm, call);
  }
  int total = 0;
  MPI_Allreduce(&mistakes, &total, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  for (Comm& comm : comms)
    if (comm.handle != MPI_COMM_NULL) MPI_Comm_free(&comm.handle);
  if (world_rank == 0) std::printf(total ? "%d wrong\n" : "done\n", total);
  MPI_Finalize();
  return mistakes != 0;
}
