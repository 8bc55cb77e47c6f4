/* Wrong arguments of the collectives, on all ranks alike: before memory is shared, after, and then right calls again.
   Each rank prints the classes of the errors that it gets; a host that does not survive one by itself is not asked
   (second argument: a list). HOW: return
   (MPI_ERRORS_RETURN), handler (one that counts), world (what the world has is inherited by none). */
#include <mpi.h>
#include <stdio.h>
#include <string.h>

static int rank, ranks, in[64], out[4096], handled;
static char line[4000];
static const char* not_tried = "";

static int tried(const char* what) { return strstr(not_tried, what) == NULL; }

static void note(const char* what, int error) {
  int class = 0;
  if (error != MPI_SUCCESS) MPI_Error_class(error, &class);
  snprintf(line + strlen(line), sizeof line - strlen(line), " %s=%d", what, class);
}

static void count_error(MPI_Comm* comm, int* error, ...) {
  (void)comm;
  (void)error;
  ++handled;
}

static void wrong_calls(MPI_Comm comm) {
  const MPI_Datatype none = MPI_DATATYPE_NULL;
  MPI_Datatype open;
  MPI_Type_contiguous(2, MPI_INT, &open); /* not committed */
  if (tried("barrier")) note("barrier", MPI_Barrier(MPI_COMM_NULL));
  if (tried("bcast.count")) note("bcast.count", MPI_Bcast(in, -1, MPI_INT, 0, comm));
  if (tried("bcast.root")) note("bcast.root", MPI_Bcast(in, 1, MPI_INT, ranks, comm));
  if (tried("bcast.root-")) note("bcast.root-", MPI_Bcast(in, 1, MPI_INT, -7, comm));
  if (tried("bcast.type")) note("bcast.type", MPI_Bcast(in, 1, none, 0, comm));
  if (tried("bcast.open")) note("bcast.open", MPI_Bcast(in, 1, open, 0, comm));
  if (tried("reduce.count")) note("reduce.count", MPI_Reduce(in, out, -1, MPI_INT, MPI_SUM, 0, comm));
  if (tried("reduce.root")) note("reduce.root", MPI_Reduce(in, out, 1, MPI_INT, MPI_SUM, ranks + 2, comm));
  if (tried("reduce.op")) note("reduce.op", MPI_Reduce(in, out, 1, MPI_INT, MPI_OP_NULL, 0, comm));
  if (tried("reduce.type")) note("reduce.type", MPI_Reduce(in, out, 1, none, MPI_SUM, 0, comm));
  if (tried("reduce.pair")) note("reduce.pair", MPI_Reduce(in, out, 1, MPI_2INT, MPI_SUM, 0, comm));
  if (tried("allreduce.count")) note("allreduce.count", MPI_Allreduce(in, out, -3, MPI_INT, MPI_SUM, comm));
  if (tried("allreduce.op")) note("allreduce.op", MPI_Allreduce(in, out, 1, MPI_INT, MPI_OP_NULL, comm));
  if (tried("allreduce.pair")) note("allreduce.pair", MPI_Allreduce(in, out, 1, MPI_FLOAT_INT, MPI_MAX, comm));
  if (tried("allreduce.bits")) note("allreduce.bits", MPI_Allreduce(in, out, 1, MPI_DOUBLE, MPI_BAND, comm));
  if (tried("allreduce.byte")) note("allreduce.byte", MPI_Allreduce(in, out, 1, MPI_BYTE, MPI_SUM, comm));
  if (tried("gather.count")) note("gather.count", MPI_Gather(in, -1, MPI_INT, out, 1, MPI_INT, 0, comm));
  if (tried("gather.root")) note("gather.root", MPI_Gather(in, 1, MPI_INT, out, 1, MPI_INT, -5, comm));
  if (tried("gather.type")) note("gather.type", MPI_Gather(in, 1, none, out, 1, MPI_INT, 0, comm));
  if (tried("scatter.count")) note("scatter.count", MPI_Scatter(in, 1, MPI_INT, out, -1, MPI_INT, 0, comm));
  if (tried("scatter.root")) note("scatter.root", MPI_Scatter(in, 1, MPI_INT, out, 1, MPI_INT, ranks, comm));
  if (tried("allgather.count")) note("allgather.count", MPI_Allgather(in, 1, MPI_INT, out, -1, MPI_INT, comm));
  if (tried("allgather.type")) note("allgather.type", MPI_Allgather(in, 1, none, out, 1, MPI_INT, comm));
  if (tried("alltoall.count")) note("alltoall.count", MPI_Alltoall(in, -1, MPI_INT, out, 1, MPI_INT, comm));
  if (tried("alltoall.type")) note("alltoall.type", MPI_Alltoall(in, 1, MPI_INT, out, 1, none, comm));
  if (tried("neighbor.topology"))
    note("neighbor.topology", MPI_Neighbor_allgather(in, 1, MPI_INT, out, 1, MPI_INT, comm));
  if (tried("send.rank")) note("send.rank", MPI_Send(in, 1, MPI_INT, ranks, 0, comm));
  if (tried("send.tag")) note("send.tag", MPI_Send(in, 1, MPI_INT, 0, -9, comm));
  if (tried("recv.count")) note("recv.count", MPI_Recv(out, -1, MPI_INT, 0, 0, comm, MPI_STATUS_IGNORE));
  if (tried("sendrecv.type"))
    note("sendrecv.type", MPI_Sendrecv(in, 1, none, 0, 0, out, 1, MPI_INT, 0, 0, comm, MPI_STATUS_IGNORE));
  int at = 0;
  if (tried("pack.count")) note("pack.count", MPI_Pack(in, -1, MPI_INT, out, 100, &at, comm));
  if (tried("pack.room")) note("pack.room", MPI_Pack(in, 4, MPI_INT, out, 8, &at, comm));
  if (tried("reduce_local.op")) note("reduce_local.op", MPI_Reduce_local(in, out, 1, MPI_INT, MPI_OP_NULL));
  MPI_Type_free(&open);
}

static int right_calls(MPI_Comm comm) {
  int wrong = 0;
  for (int i = 0; i < 40; ++i) {
    int own = rank + i, sum = 0;
    wrong += MPI_Allreduce(&own, &sum, 1, MPI_INT, MPI_SUM, comm) != MPI_SUCCESS;
    wrong += sum != ranks * (ranks - 1) / 2 + ranks * i;
  }
  return wrong;
}

int main(int argc, char** argv) {
  const char* how = argc > 1 ? argv[1] : "return";
  if (argc > 2) not_tried = argv[2];
  MPI_Errhandler handler = MPI_ERRORS_RETURN;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  if (strcmp(how, "handler") == 0) MPI_Comm_create_errhandler(count_error, &handler);
  MPI_Comm comm;
  if (strcmp(how, "world") == 0) MPI_Comm_set_errhandler(MPI_COMM_WORLD, handler);
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, handler);
  if (strcmp(how, "world") != 0) MPI_Comm_set_errhandler(comm, handler);
  for (int shared = 0; shared < 2; ++shared) {
    MPI_Comm fresh;
    MPI_Comm_dup(comm, &fresh);
    int wrong = shared ? right_calls(fresh) : 0;
    line[0] = 0;
    wrong_calls(fresh);
    printf("rank %d%s: %s\n", rank, shared ? ", shared" : "", line);
    wrong += right_calls(fresh);
    printf("rank %d%s: %d wrong, handled %d\n", rank, shared ? ", shared" : "", wrong, handled);
    MPI_Comm_free(&fresh);
  }
  fflush(stdout);
  MPI_Comm_free(&comm);
  MPI_Finalize();
  return 0;
}
