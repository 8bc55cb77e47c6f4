/* Receives that complete in the delete callback of an attribute on MPI_COMM_SELF: the standard has MPI_Finalize begin
   with these, and MPI still works there. Two ranks; each prints what it received. */
#include <mpi.h>
#include <stdio.h>

enum { BLOCKS = 600, STRIDE = 3, INTS = BLOCKS * STRIDE, FORMS = 6 };

static MPI_Datatype type;
static MPI_Request requests[FORMS], sends[FORMS], persistent, collective;
static int rank, peer, out[INTS], in[FORMS][INTS], in_persistent[INTS], all_in[2 * INTS];

static int wrong(const int* received) {
  int count = 0;
  for (int i = 0; i < INTS; ++i) count += received[i] != (i % STRIDE < 2 ? (1 - rank) * INTS + i : -1);
  return count;
}

static int complete(MPI_Comm comm, int keyval, void* attribute, void* extra) {
  int index, done, flag = 0, indices[2];
  MPI_Status status, statuses[2];
  (void)comm, (void)keyval, (void)attribute, (void)extra;
  MPI_Wait(&requests[0], &status);
  while (!flag) MPI_Test(&requests[1], &flag, MPI_STATUS_IGNORE);
  MPI_Waitany(1, &requests[2], &index, &status);
  MPI_Waitsome(1, &requests[3], &done, indices, statuses);
  MPI_Waitall(2, &requests[4], MPI_STATUSES_IGNORE);
  MPI_Start(&persistent);
  MPI_Send(out, 1, type, peer, 90, MPI_COMM_WORLD);
  MPI_Wait(&persistent, MPI_STATUS_IGNORE);
  MPI_Request_free(&persistent);
  MPI_Wait(&collective, MPI_STATUS_IGNORE);
  MPI_Waitall(FORMS, sends, MPI_STATUSES_IGNORE);
  for (int form = 0; form < FORMS; ++form) printf("rank %d form %d: %d wrong\n", rank, form, wrong(in[form]));
  printf("rank %d persistent: %d wrong\n", rank, wrong(in_persistent));
  printf("rank %d collective: %d wrong\n", rank, wrong(all_in + peer * INTS));
  return MPI_SUCCESS;
}

int main(int argc, char** argv) {
  int keyval;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  peer = 1 - rank;
  MPI_Type_vector(BLOCKS, 2, STRIDE, MPI_INT, &type);
  /* A whole number of these follow one another. */
  MPI_Datatype row = type;
  MPI_Type_create_resized(row, 0, INTS * sizeof(int), &type);
  MPI_Type_commit(&type);
  for (int i = 0; i < INTS; ++i) out[i] = rank * INTS + i;
  for (int turn = 0; turn < 3; ++turn) {
    for (int i = 0; i < INTS; ++i) in[0][i] = -1;
    MPI_Sendrecv(out, 1, type, peer, 0, in[0], 1, type, peer, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Iallgather(out, 1, type, all_in, 1, type, MPI_COMM_WORLD, &collective);
    MPI_Wait(&collective, MPI_STATUS_IGNORE);
  }
  for (int i = 0; i < INTS; ++i) {
    in_persistent[i] = all_in[i] = all_in[INTS + i] = -1;
    for (int form = 0; form < FORMS; ++form) in[form][i] = -1;
  }
  for (int form = 0; form < FORMS; ++form) MPI_Irecv(in[form], 1, type, peer, form, MPI_COMM_WORLD, &requests[form]);
  MPI_Recv_init(in_persistent, 1, type, peer, 90, MPI_COMM_WORLD, &persistent);
  for (int form = 0; form < FORMS; ++form) MPI_Isend(out, 1, type, peer, form, MPI_COMM_WORLD, &sends[form]);
  MPI_Iallgather(out, 1, type, all_in, 1, type, MPI_COMM_WORLD, &collective);
  MPI_Type_free(&row);
  MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, complete, &keyval, NULL);
  MPI_Comm_set_attr(MPI_COMM_SELF, keyval, NULL);
  MPI_Finalize();
  return 0;
}
