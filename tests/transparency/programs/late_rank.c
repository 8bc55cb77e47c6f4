/* The last rank comes late (milliseconds, first argument) to collectives none of which synchronises: the first of
   them are bcasts from rank 0. Then many on the world and a duplicate of it (how many, second argument). Prints
   "done". */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

int main(int argc, char** argv) {
  int rank, ranks, wrong = 0;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  if (rank == ranks - 1) usleep((unsigned)atoi(argv[1]) * 1000);
  const int calls = atoi(argv[2]);
  MPI_Comm comms[2] = {MPI_COMM_WORLD, MPI_COMM_NULL};
  for (int part = 0; part < 2; ++part) {
    if (part) MPI_Comm_dup(MPI_COMM_WORLD, &comms[1]);
    for (int call = 0; call < calls; ++call) {
      double data[5];
      for (int i = 0; i < 5; ++i) data[i] = rank == 0 ? 10 * call + i : -1;
      MPI_Bcast(data, 5, MPI_DOUBLE, 0, comms[part]);
      for (int i = 0; i < 5; ++i) wrong += data[i] != 10 * call + i;
    }
  }
  MPI_Comm_free(&comms[1]);
  if (wrong) printf("%d wrong on rank %d\n", wrong, rank);
  int all = 0;
  MPI_Reduce(&wrong, &all, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
  if (rank == 0 && all == 0) printf("done\n");
  MPI_Finalize();
  return wrong != 0;
}
