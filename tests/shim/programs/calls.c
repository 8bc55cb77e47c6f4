/* Makes a known number of calls of several kinds, so that a report can be compared with the truth. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank, ranks;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  int next = (rank + 1) % ranks, previous = (rank + ranks - 1) % ranks;
  double sent[16] = {0}, received[16];
  for (int i = 0; i < 7; ++i)
    MPI_Sendrecv(sent, 16, MPI_DOUBLE, next, 0, received, 16, MPI_DOUBLE, previous, 0, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
  for (int i = 0; i < 5; ++i) MPI_Allreduce(sent, received, 4, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  for (int i = 0; i < 3; ++i) MPI_Allreduce(MPI_IN_PLACE, received, 4, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  MPI_Request request;
  MPI_Isend(sent, 10, MPI_BYTE, MPI_PROC_NULL, 0, MPI_COMM_WORLD, &request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  MPI_Datatype column;
  MPI_Type_vector(4, 1, 2, MPI_INT, &column);
  MPI_Type_commit(&column);
  int matrix[8] = {0};
  for (int i = 0; i < 2; ++i) MPI_Bcast(matrix, 1, column, ranks - 1, MPI_COMM_WORLD);
  MPI_Type_free(&column);
  int* counts = calloc((size_t)ranks, sizeof(int));
  int* displacements = calloc((size_t)ranks, sizeof(int));
  int* all = calloc((size_t)ranks, sizeof(int));
  for (int i = 0; i < ranks; ++i) counts[i] = 1, displacements[i] = i;
  MPI_Gatherv(&rank, 1, MPI_INT, all, counts, displacements, MPI_INT, 0, MPI_COMM_WORLD);
  MPI_Alltoallv(all, counts, displacements, MPI_INT, all == NULL ? NULL : calloc((size_t)ranks, 4), counts,
                displacements, MPI_INT, MPI_COMM_WORLD);
  for (int i = 0; i < 4; ++i) MPI_Barrier(MPI_COMM_WORLD);
  float in[256], inout[256];
  for (int i = 0; i < 256; ++i) in[i] = 1, inout[i] = 2;
  for (int i = 0; i < 6; ++i) MPI_Reduce_local(in, inout, 256, MPI_FLOAT, MPI_SUM);
  double start = MPI_Wtime();
  if (start < 0 || inout[255] != 8) MPI_Abort(MPI_COMM_WORLD, 3);
  if (rank == 0) printf("done %d\n", ranks);
  MPI_Finalize();
  return 0;
}
