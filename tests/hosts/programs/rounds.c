/* As many rounds of collectives as the first argument says, each with the right result; who starts ranks how is tried
   with it. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank = -1, size = -1, wrong = 0, anywhere = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  const int rounds = argc > 1 ? atoi(argv[1]) : 100;
  for (int round = 0; round < rounds; ++round) {
    int own = rank + round, sum = -1, told = rank == round % size ? round : -1;
    MPI_Allreduce(&own, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    MPI_Bcast(&told, 1, MPI_INT, round % size, MPI_COMM_WORLD);
    MPI_Barrier(MPI_COMM_WORLD);
    wrong += sum != size * (size - 1) / 2 + size * round || told != round;
  }
  MPI_Reduce(&wrong, &anywhere, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
  if (rank == 0) printf("%d ranks, %d wrong\n", size, anywhere);
  MPI_Finalize();
  return 0;
}
