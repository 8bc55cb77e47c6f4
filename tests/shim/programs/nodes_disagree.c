/* Ranks that disagree in a collective over nodes: in what they send, or in who the root is. Arguments: the number of
   doubles of the others, that of those who differ, who differs ("node": all of a node; "rank": one rank), the rank that
   it is or which is of that node, the root, and kinds to leave out.

   Each kind of collective has a communicator of its own, on which errors are returned: some calls in which all agree,
   one in which they do not, and a barrier. Of each rank and kind comes a line: what the call came to ("right", "wrong"
   data, or "error") and what the barrier, which all must have heard of it by, did ("passed" or "error"). */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { most_ranks = 16 };
static double *in, *out;
static int rank, ranks;

enum kind {
  allreduce,
  reduce,
  bcast,
  allgather,
  reduce_scatter,
  alltoall,
  gather,
  scatter,
  scan,
  root_of_reduce,
  kinds
};
static const char* const names[] = {"allreduce", "reduce", "bcast",   "allgather", "reduce_scatter",
                                    "alltoall",  "gather", "scatter", "scan",      "root_of_reduce"};

static int call(enum kind kind, int count, int root, MPI_Comm comm) {
  const MPI_Datatype type = MPI_DOUBLE;
  for (int i = 0; i < count * ranks; ++i) in[i] = rank + 1, out[i] = -1;
  switch (kind) {
    case allreduce: return MPI_Allreduce(in, out, count, type, MPI_SUM, comm);
    case root_of_reduce:
    case reduce: return MPI_Reduce(in, out, count, type, MPI_SUM, root, comm);
    case bcast:
      if (rank == root) memcpy(out, in, sizeof(double) * (size_t)count);
      return MPI_Bcast(out, count, type, root, comm);
    case allgather: return MPI_Allgather(in, count, type, out, count, type, comm);
    case reduce_scatter: return MPI_Reduce_scatter_block(in, out, count, type, MPI_SUM, comm);
    case alltoall: return MPI_Alltoall(in, count, type, out, count, type, comm);
    case gather: return MPI_Gather(in, count, type, out, count, type, root, comm);
    case scatter: return MPI_Scatter(in, count, type, out, count, type, root, comm);
    default: return MPI_Scan(in, out, count, type, MPI_SUM, comm);
  }
}

static int holds(int first, int count, double wanted) {
  for (int i = first; i < first + count; ++i)
    if (out[i] != wanted) return 0;
  return 1;
}

/* Whether a call that succeeded brought this rank what it must have. */
static int is_right(enum kind kind, int count, int root) {
  const double all = ranks * (ranks + 1) / 2;
  int right = 1;
  switch (kind) {
    case allreduce:
    case reduce_scatter: return holds(0, count, all);
    case root_of_reduce:
    case reduce: return rank != root || holds(0, count, all);
    case bcast:
    case scatter: return holds(0, count, root + 1);
    case scan: return holds(0, count, (rank + 1) * (rank + 2) / 2);
    default:
      for (int of = 0; of < ranks; ++of) right = right && holds(of * count, count, of + 1);
      return right || (kind == gather && rank != root);
  }
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  if (argc < 6) MPI_Abort(MPI_COMM_WORLD, 2);
  const int usual = atoi(argv[1]), other = atoi(argv[2]), whose = atoi(argv[4]), usual_root = atoi(argv[5]);
  const int by_node = strcmp(argv[3], "node") == 0, nodes = 2;
  const int differs = by_node ? rank / (ranks / nodes) == whose / (ranks / nodes) : rank == whose;
  const size_t most = (size_t)(usual > other ? usual : other) * (size_t)ranks;
  in = malloc(sizeof(double) * most);
  out = malloc(sizeof(double) * most);
  for (int kind = 0; kind < kinds; ++kind) {
    int left_out = 0;
    for (int i = 6; i < argc; ++i) left_out = left_out || strcmp(argv[i], names[kind]) == 0;
    if (left_out) continue;
    MPI_Comm comm;
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
    for (int i = 0; i < 40; ++i)
      if (call(i % 2 ? (enum kind)kind : allreduce, usual, usual_root, comm) != 0 ||
          (i > 30 && !is_right(i % 2 ? (enum kind)kind : allreduce, usual, usual_root)))
        MPI_Abort(MPI_COMM_WORLD, 3);
    const int root = kind == root_of_reduce && differs ? whose : usual_root,
              count = differs && kind != root_of_reduce ? other : usual;
    const int error = call((enum kind)kind, count, root, comm);
    const char* const came = error ? "error" : is_right((enum kind)kind, count, root) ? "right" : "wrong";
    printf("%s %d %s %s\n", names[kind], rank, came, MPI_Barrier(comm) ? "error" : "passed");
    fflush(stdout);
    MPI_Comm_free(&comm);
  }
  MPI_Finalize();
  return 0;
}
