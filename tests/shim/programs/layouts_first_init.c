/* Persistent requests, each of a datatype that no other call has used; one datatype is not committed. Two ranks. */
#include <mpi.h>
#include <stdio.h>
#include <string.h>

enum { BLOCKS = 300, STRIDE = 3, TYPES = 4 };

int main(int argc, char** argv) {
  int rank, wrong = 0;
  static int sent[TYPES][BLOCKS * STRIDE], received[TYPES][BLOCKS * STRIDE];
  MPI_Datatype types[TYPES], uncommitted;
  MPI_Request requests[2 * TYPES], request;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  for (int i = 0; i < TYPES; ++i) {
    MPI_Type_vector(BLOCKS, 1 + i % 2, STRIDE, MPI_INT, &types[i]);
    MPI_Type_commit(&types[i]);
    MPI_Send_init(sent[i], 1, types[i], 1 - rank, i, MPI_COMM_WORLD, &requests[i]);
  }
  for (int i = 0; i < TYPES; ++i)
    MPI_Recv_init(received[i], 1, types[i], 1 - rank, i, MPI_COMM_WORLD, &requests[TYPES + i]);
  for (int round = 0; round < 5; ++round) {
    memset(received, -1, sizeof received);
    for (int i = 0; i < TYPES; ++i)
      for (int k = 0; k < BLOCKS * STRIDE; ++k) sent[i][k] = round * 10000 + i * 1000 + k;
    MPI_Startall(2 * TYPES, requests);
    MPI_Waitall(2 * TYPES, requests, MPI_STATUSES_IGNORE);
    for (int i = 0; i < TYPES; ++i)
      for (int k = 0; k < BLOCKS * STRIDE; ++k)
        if (received[i][k] != (k % STRIDE < 1 + i % 2 ? sent[i][k] : -1)) ++wrong;
  }
  for (int i = 0; i < 2 * TYPES; ++i) MPI_Request_free(&requests[i]);
  MPI_Type_vector(BLOCKS, 1, 2, MPI_INT, &uncommitted);
  const int error = MPI_Send_init(sent[0], 1, uncommitted, 1 - rank, 9, MPI_COMM_WORLD, &request);
  if (rank == 0) printf("%d wrong, uncommitted: %s\n", wrong, error ? "an error" : "accepted");
  MPI_Finalize();
  return 0;
}
