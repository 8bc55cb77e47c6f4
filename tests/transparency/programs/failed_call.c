/* One call fails on one rank, which goes on. For every call number up to the first argument, every failing rank in
   turn, on a duplicate of the world with MPI_ERRORS_RETURN: so many good calls, the failing one, and many more good
   ones, all checked. Second argument, how it fails:
     count   MPI_Bcast with a count of -1, which only that rank calls
     root    likewise, a root that is no rank
     op      likewise, MPI_Allreduce with MPI_OP_NULL
     type    likewise, MPI_DATATYPE_NULL
     empty   the others call it as well, but with no bytes, so that nobody waits for anybody
     truncated  MPI_Bcast from rank 0, whose data are too long for that rank
   Third: kinds of the good calls: allreduce, bcast, mixed. Fourth, "handler": a handler of the program's own hears of
   the error and returns; some hosts then return success. Each rank prints whether it got an error, and what was wrong.
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int wrong, errors, rank, ranks;
static const char* kinds;

static int heard;

static void hear(MPI_Comm* comm, int* error, ...) {
  (void)comm;
  (void)error;
  ++heard;
}

static void good(MPI_Comm comm, int call) {
  int in[6], out[6], error;
  const int bcast = strcmp(kinds, "bcast") == 0 || (strcmp(kinds, "mixed") == 0 && call % 3);
  for (int i = 0; i < 6; ++i) in[i] = 1000 * call + 10 * rank + i;
  if (bcast) {
    const int root = call % ranks;
    error = MPI_Bcast(in, 6, MPI_INT, root, comm);
    for (int i = 0; i < 6; ++i) wrong += in[i] != 1000 * call + 10 * root + i;
  } else {
    error = MPI_Allreduce(in, out, 6, MPI_INT, MPI_SUM, comm);
    for (int i = 0; i < 6; ++i) wrong += out[i] != ranks * (1000 * call + i) + 5 * ranks * (ranks - 1);
  }
  errors += error != MPI_SUCCESS;
}

static int fails(MPI_Comm comm, const char* how, int is_it) {
  int in[64] = {0}, out[64];
  if (strcmp(how, "empty") == 0) return MPI_Bcast(in, is_it ? -1 : 0, MPI_INT, 0, comm);
  if (strcmp(how, "truncated") == 0) return MPI_Bcast(in, is_it && rank ? 4 : 8, MPI_INT, 0, comm);
  if (!is_it) return MPI_SUCCESS;
  if (strcmp(how, "count") == 0) return MPI_Bcast(in, -1, MPI_INT, 0, comm);
  if (strcmp(how, "root") == 0) return MPI_Bcast(in, 1, MPI_INT, ranks + 7, comm);
  if (strcmp(how, "op") == 0) return MPI_Allreduce(in, out, 1, MPI_INT, MPI_OP_NULL, comm);
  return MPI_Bcast(in, 1, MPI_DATATYPE_NULL, 0, comm);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  const int before_most = atoi(argv[1]);
  kinds = argv[3];
  MPI_Errhandler handler = MPI_ERRORS_RETURN;
  if (argc > 4) MPI_Comm_create_errhandler(hear, &handler);
  for (int before = 0; before <= before_most; ++before) {
    const int who = (before + 1) % ranks;
    MPI_Comm comm;
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Comm_set_errhandler(comm, handler);
    for (int call = 0; call < before; ++call) good(comm, call);
    const int error = fails(comm, argv[2], rank == who);
    int class = MPI_SUCCESS;
    if (error) MPI_Error_class(error, &class);
    if (rank == who) printf("%02d rank %d: %s\n", before, rank, class ? "an error" : "no error");
    for (int call = before; call < before + 14; ++call) good(comm, call);
    MPI_Comm_free(&comm);
  }
  printf("rank %d: %d wrong, %d errors, %d heard\n", rank, wrong, errors, heard);
  MPI_Finalize();
  return 0;
}
