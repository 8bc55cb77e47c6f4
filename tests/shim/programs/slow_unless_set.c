/* A program that a setting makes faster: without FASTER=1 rank 1 comes 20 ms late to each of ten barriers, so that rank
 * 0 waits inside MPI. With FAILS=1 it fails instead. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

int main(int argument_count, char** arguments) {
  int rank;
  MPI_Init(&argument_count, &arguments);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (getenv("FAILS")) {
    MPI_Finalize();
    return 3;
  }
  for (int call = 0; call < 10; ++call) {
    if (rank == 1 && !getenv("FASTER")) usleep(20000);
    MPI_Barrier(MPI_COMM_WORLD);
  }
  if (rank == 0) puts("ran");
  MPI_Finalize();
  return 0;
}
