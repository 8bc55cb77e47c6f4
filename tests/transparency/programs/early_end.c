/* The last rank ends while the others go on among themselves. Arguments: the world's one collective (barrier, bcast,
   none), which rank comes late to it and how many milliseconds, how many collectives the others make afterwards, and
   which (bcast, mixed). Prints what went wrong, or "done". */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int wrong;

static void bcast(MPI_Comm comm, int call) {
  int rank, ranks, data[9];
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_size(comm, &ranks);
  for (int i = 0; i < 9; ++i) data[i] = rank == call % ranks ? 100 * call + i : -1;
  MPI_Bcast(data, 9, MPI_INT, call % ranks, comm);
  for (int i = 0; i < 9; ++i) wrong += data[i] != 100 * call + i;
}

static void allreduce(MPI_Comm comm, int call) {
  int rank, ranks, sum = 0;
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_size(comm, &ranks);
  int own = call + rank;
  MPI_Allreduce(&own, &sum, 1, MPI_INT, MPI_SUM, comm);
  wrong += sum != ranks * call + ranks * (ranks - 1) / 2;
}

int main(int argc, char** argv) {
  int rank, ranks;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  const int is_last = rank == ranks - 1;
  MPI_Comm others;
  MPI_Comm_split(MPI_COMM_WORLD, is_last ? MPI_UNDEFINED : 0, rank, &others);
  if (rank == atoi(argv[2])) usleep((unsigned)atoi(argv[3]) * 1000);
  if (strcmp(argv[1], "barrier") == 0) MPI_Barrier(MPI_COMM_WORLD);
  if (strcmp(argv[1], "bcast") == 0) bcast(MPI_COMM_WORLD, 0);
  if (!is_last) {
    for (int call = 0; call < atoi(argv[4]); ++call)
      call % 4 == 3 && strcmp(argv[5], "mixed") == 0 ? allreduce(others, call) : bcast(others, call);
    MPI_Comm_free(&others);
    if (wrong) printf("%d wrong on rank %d\n", wrong, rank);
  }
  if (rank == 0 && !wrong) printf("done\n");
  MPI_Finalize();
  return wrong != 0;
}
