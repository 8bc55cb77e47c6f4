/* Two ranks exchange messages of a derived datatype in every way that completes later, and say what is missing.
   DIRECT: the program calls PMPI_Wait itself. */
#include <mpi.h>
#include <stdio.h>

#ifdef DIRECT
#define WAIT PMPI_Wait
#define START PMPI_Start
#else
#define WAIT MPI_Wait
#define START MPI_Start
#endif

enum { BLOCKS = 600, STRIDE = 3, INTS = BLOCKS * STRIDE, MESSAGES = 20 };

static MPI_Datatype type;
static int rank, peer, out[INTS], in[INTS], both[2 * INTS];

static void clear(void) {
  for (int i = 0; i < INTS; ++i) in[i] = both[i] = both[INTS + i] = -1;
}

static int wrong(const int* received) {
  int count = 0;
  for (int i = 0; i < INTS; ++i) count += received[i] != (i % STRIDE < 2 ? peer * INTS + i : -1);
  return count > 0;
}

int main(int argc, char** argv) {
  int failed[5] = {0};
  MPI_Request requests[2], persistent[2];
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  peer = 1 - rank;
  MPI_Datatype row;
  MPI_Type_vector(BLOCKS, 2, STRIDE, MPI_INT, &row);
  MPI_Type_create_resized(row, 0, INTS * sizeof(int), &type);
  MPI_Type_commit(&type);
  for (int i = 0; i < INTS; ++i) out[i] = rank * INTS + i;
  MPI_Send_init(out, 1, type, peer, 3, MPI_COMM_WORLD, &persistent[0]);
  MPI_Recv_init(in, 1, type, peer, 3, MPI_COMM_WORLD, &persistent[1]);
  for (int message = 0; message < MESSAGES; ++message) {
    clear();
    MPI_Irecv(in, 1, type, peer, 1, MPI_COMM_WORLD, &requests[0]);
    MPI_Isend(out, 1, type, peer, 1, MPI_COMM_WORLD, &requests[1]);
    WAIT(&requests[0], MPI_STATUS_IGNORE);
    WAIT(&requests[1], MPI_STATUS_IGNORE);
    failed[0] += wrong(in);
    clear();
    MPI_Irecv(in, 1, type, peer, 2, MPI_COMM_WORLD, &requests[0]);
    MPI_Isend(out, 1, type, peer, 2, MPI_COMM_WORLD, &requests[1]);
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    failed[1] += wrong(in);
    clear();
    MPI_Iallgather(out, 1, type, both, 1, type, MPI_COMM_WORLD, &requests[0]);
    WAIT(&requests[0], MPI_STATUS_IGNORE);
    failed[2] += wrong(both + peer * INTS);
    clear();
    MPI_Sendrecv(out, 1, type, peer, 4, in, 1, type, peer, 4, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    failed[3] += wrong(in);
    clear();
    for (int i = 0; i < 2; ++i) START(&persistent[i]);
    for (int i = 0; i < 2; ++i) WAIT(&persistent[i], MPI_STATUS_IGNORE);
    failed[4] += wrong(in);
  }
  for (int i = 0; i < 2; ++i) MPI_Request_free(&persistent[i]);
  printf("rank %d, missing: wait %d, waitall %d, collective %d, blocking %d, persistent %d\n", rank, failed[0],
         failed[1], failed[2], failed[3], failed[4]);
  MPI_Type_free(&row);
  MPI_Type_free(&type);
  MPI_Finalize();
  return 0;
}
