/* The root of a broadcast gives a datatype that was never committed. It gets the host's error, and the others, who wait
   for its data, an error as well instead of waiting for ever. */
#include <mpi.h>
#include <stdio.h>

int main(int argc, char** argv) {
  int rank, ranks;
  double buffer[200] = {0};
  MPI_Datatype type;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  MPI_Comm comm;
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  MPI_Type_vector(50, 2, 4, MPI_DOUBLE, &type);
  if (rank != 1) MPI_Type_commit(&type);
  for (int i = 0; i < 8; ++i) MPI_Barrier(comm);
  int error = MPI_Bcast(buffer, 1, type, 1, comm);
  printf("rank %d: %s\n", rank, error ? "an error" : "no error");
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Finalize();
  return 0;
}
