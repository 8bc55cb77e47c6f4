/* Wrong arguments of collectives that reduce nothing, the same on all ranks: MPI_ and PMPI_ must return errors of the
   same class, and the communicator works afterwards. Prints one line for each difference, then "done". */
#include <mpi.h>
#include <stdio.h>
#include <string.h>

static int rank, ranks, wrong = 0;

static void compare(const char* what, int ours, int hosts) {
  int a = 0, b = 0;
  MPI_Error_class(ours, &a), MPI_Error_class(hosts, &b);
  if (a != b || a == MPI_SUCCESS) printf("rank %d: %s: class %d, the host's is %d\n", rank, what, a, b), wrong = 1;
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm comm;
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN); /* Open MPI has no topology on that one */
  MPI_Comm_rank(comm, &rank), MPI_Comm_size(comm, &ranks);
  for (int i = 0; i < 8; ++i) MPI_Barrier(comm);
  int in[8] = {0}, out[64] = {0}, counts[8], minus[8], places[8];
  MPI_Datatype uncommitted, types[8], untypes[8];
  MPI_Type_vector(2, 1, 2, MPI_INT, &uncommitted);
  for (int i = 0; i < 8; ++i) counts[i] = 1, minus[i] = -1, places[i] = i, types[i] = MPI_INT, untypes[i] = uncommitted;
#define BOTH(what, name, ...) compare(what, MPI_##name(__VA_ARGS__), PMPI_##name(__VA_ARGS__))
  for (int turn = 0; turn < 2; ++turn) {
    BOTH("a negative count", Gather, in, -1, MPI_INT, out, -1, MPI_INT, 0, comm);
    BOTH("a negative count", Allgather, in, -1, MPI_INT, out, -1, MPI_INT, comm);
    BOTH("a root that is none", Gather, in, 1, MPI_INT, out, 1, MPI_INT, ranks, comm);
    BOTH("a root that is none", Scatterv, in, counts, places, MPI_INT, out, 1, MPI_INT, -7, comm);
    BOTH("no datatype", Alltoall, in, 1, MPI_DATATYPE_NULL, out, 1, MPI_DATATYPE_NULL, comm);
    BOTH("an uncommitted datatype", Alltoall, in, 1, uncommitted, out, 1, uncommitted, comm);
    BOTH("an uncommitted datatype", Allgatherv, in, 1, uncommitted, out, counts, places, uncommitted, comm);
    BOTH("negative counts", Alltoallv, in, minus, places, MPI_INT, out, minus, places, MPI_INT, comm);
    BOTH("uncommitted datatypes", Alltoallw, in, counts, places, untypes, out, counts, places, untypes, comm);
    BOTH("no topology", Neighbor_alltoall, in, 1, MPI_INT, out, 1, MPI_INT, comm);
    in[0] = rank + turn;
    memset(out, 0, sizeof out);
    MPI_Allgather(in, 1, MPI_INT, out, 1, MPI_INT, comm);
    for (int i = 0; i < ranks; ++i)
      if (out[i] != i + turn) printf("rank %d: wrong data after errors\n", rank), wrong = 1;
  }
  MPI_Type_free(&uncommitted);
  int total = 0;
  MPI_Allreduce(&wrong, &total, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  if (rank == 0) printf(total ? "%d wrong\n" : "done\n", total);
  MPI_Comm_free(&comm);
  MPI_Finalize();
  return 0;
}
