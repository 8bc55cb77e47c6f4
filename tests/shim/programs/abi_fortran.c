/* What `use mpi_f08` calls in Intel's library with the MPI-5 ABI, called from C: those of its routines that do not come
   through C entries. Their handles are C handles, where other libraries have integers, and they step through arrays of
   statuses by 20 bytes, where C has 32. */
#include <mpi.h>
#include <stdio.h>

void mpi_barrier_f08_(MPI_Comm* comm, int* error);
void mpi_comm_dup_f08_(MPI_Comm* comm, MPI_Comm* made, int* error);
void mpi_comm_free_f08_(MPI_Comm* comm, int* error);
void mpi_request_free_f08_(MPI_Request* request, int* error);
void mpi_waitall_f08_(int* count, MPI_Request* requests, MPI_Status* statuses, int* error);

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int wrong = 0, error = -1, rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm world = MPI_COMM_WORLD, made = MPI_COMM_NULL;
  for (int i = 0; i < 40; ++i) {
    mpi_barrier_f08_(&world, &error);
    wrong += error != MPI_SUCCESS;
  }
  mpi_comm_dup_f08_(&world, &made, &error);
  wrong += error != MPI_SUCCESS;
  for (int i = 0; i < 40; ++i) MPI_Barrier(made);
  for (int i = 0; i < 40; ++i) {
    mpi_barrier_f08_(&made, &error);
    wrong += error != MPI_SUCCESS;
  }

  /* A message of a derived type, its request freed while it is under way. */
  MPI_Datatype column;
  MPI_Type_vector(4096, 1, 2, MPI_INT, &column);
  MPI_Type_commit(&column);
  static int data[8192], copy[8192];
  for (int round = 0; round < 8; ++round) {
    for (int i = 0; i < 8192; ++i) data[i] = i + round, copy[i] = -1;
    if (rank == 0) {
      MPI_Request request;
      MPI_Isend(data, 1, column, 1, 5, MPI_COMM_WORLD, &request);
      mpi_request_free_f08_(&request, &error);
      wrong += error != MPI_SUCCESS || request != MPI_REQUEST_NULL;
    } else if (rank == 1) {
      int count = 2;
      MPI_Request requests[2] = {MPI_REQUEST_NULL, MPI_REQUEST_NULL};
      MPI_Status statuses[2];
      MPI_Irecv(copy, 1, column, 0, 5, MPI_COMM_WORLD, &requests[1]);
      mpi_waitall_f08_(&count, requests, statuses, &error);
      wrong += error != MPI_SUCCESS || requests[1] != MPI_REQUEST_NULL;
      for (int i = 0; i < 8192; ++i) wrong += copy[i] != (i % 2 ? -1 : i + round);
    }
    mpi_barrier_f08_(&world, &error);
    if (rank == 0) MPI_Send(data, 1, column, 1, 6, MPI_COMM_WORLD);
    if (rank == 1) MPI_Recv(copy, 1, column, 0, 6, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  }
  MPI_Type_free(&column);
  mpi_comm_free_f08_(&made, &error);
  wrong += error != MPI_SUCCESS;
  MPI_Allreduce(MPI_IN_PLACE, &wrong, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  if (rank == 0) printf("%d wrong\n", wrong);
  MPI_Finalize();
  return 0;
}
