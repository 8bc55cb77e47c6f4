/* Every rank computes for a third of its time, then all but rank 0 wait for it in one long barrier, then all reduce
 * again and again. Rank 0 prints how many reductions that were. An argument: milliseconds of a third. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

static void compute(double seconds) {
  const double begin = MPI_Wtime();
  volatile double sum = 0;
  while (MPI_Wtime() - begin < seconds)
    for (int i = 0; i < 100000; ++i) sum += i;
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  const double third = (argc > 1 ? atoi(argv[1]) : 200) * 1e-3;
  int rank, is_over = 0, reductions = 0;
  double data[16] = {0}, sum[16];
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  compute(third);
  if (rank == 0) compute(third);
  MPI_Barrier(MPI_COMM_WORLD);
  const double begin = MPI_Wtime();
  while (!is_over) {
    for (int i = 0; i < 100; ++i) MPI_Allreduce(data, sum, 16, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    reductions += 100;
    is_over = MPI_Wtime() - begin > third;
    MPI_Bcast(&is_over, 1, MPI_INT, 0, MPI_COMM_WORLD);
  }
  if (rank == 0) printf("%d\n", reductions);
  MPI_Finalize();
  return 0;
}
