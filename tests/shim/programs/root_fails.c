/* The root of a broadcast gives a datatype that was never committed, gets the host's error, and tries again with one
   that was: the others, who have waited for its data, get them. */
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
  for (int i = 0; i < 100; ++i) buffer[i / 2 * 4 + i % 2] = rank == 1 ? i + 1 : 0;
  for (int i = 0; i < 8; ++i) MPI_Barrier(comm);
  int errors = MPI_Bcast(buffer, 1, type, 1, comm) != MPI_SUCCESS;
  if (rank == 1) {
    MPI_Type_commit(&type);
    errors += MPI_Bcast(buffer, 1, type, 1, comm) != MPI_SUCCESS;
  }
  int right = 1;
  for (int i = 0; i < 100; ++i) right = right && buffer[i / 2 * 4 + i % 2] == i + 1;
  for (int i = 0; i < 20; ++i) errors += MPI_Barrier(comm) != MPI_SUCCESS;
  printf("rank %d: %d errors, data %s\n", rank, errors, right ? "right" : "wrong");
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Finalize();
  return 0;
}
