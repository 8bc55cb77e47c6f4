/* A root that makes 40 broadcasts and then sends what the others receive before they come to the first. MPI does not
   promise that this works; every host but MPICH 5 lets it. */
#include <mpi.h>
#include <stdio.h>

int main(int argc, char** argv) {
  int rank, ranks;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  for (int round = 0; round < 40; ++round) {
    int value = round, token = 0;
    if (rank != 0) MPI_Recv(&token, 1, MPI_INT, 0, 5, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    for (int i = 0; i < 40; ++i) MPI_Bcast(&value, 1, MPI_INT, 0, MPI_COMM_WORLD);
    for (int to = 1; rank == 0 && to < ranks; ++to) MPI_Send(&token, 1, MPI_INT, to, 5, MPI_COMM_WORLD);
  }
  if (rank == 0) puts("done");
  MPI_Finalize();
  return 0;
}
