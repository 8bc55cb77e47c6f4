/* uneven_bcast FROM: from call FROM on, rank 1 expects more of MPI_Bcast than is sent, as many programs do and hosts
   put up with. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char** argv) {
  int rank, wrong = 0, all = 0;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN); /* MPICH tells rank 1 of it */
  const int from = atoi(argv[1]);
  for (int i = 0; i < 400; ++i) {
    int values[500];
    const int sent = 50, expected = rank == 1 && i >= from ? 500 : sent;
    for (int k = 0; k < 500; ++k) values[k] = rank == 0 ? i + k : -1;
    MPI_Bcast(values, expected, MPI_INT, 0, MPI_COMM_WORLD);
    for (int k = 0; k < sent; ++k) wrong += values[k] != i + k;
    if (i % 7 == 0) MPI_Barrier(MPI_COMM_WORLD);
  }
  MPI_Allreduce(&wrong, &all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  if (rank == 0) printf("%d wrong\n", all);
  MPI_Finalize();
  return 0;
}
