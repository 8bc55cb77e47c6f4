/* What each collective puts on the wire: packets and bytes that the interface eth0 of this node has sent, before and
   after some calls of it. Arguments: bytes (of what a rank gives, or of a block), calls. The first rank of each node
   prints a line for each collective at the end: its rank, the collective, packets, bytes. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { kinds = 11, warm_calls = 80 };
static const char* const names[kinds] = {"barrier",   "bcast",    "reduce",         "allreduce", "gather", "scatter",
                                         "allgather", "alltoall", "reduce_scatter", "scan",      "exscan"};
static int rank, ranks, bytes;
static char *in, *out;

static void call(int kind) {
  const MPI_Comm world = MPI_COMM_WORLD;
  const int doubles = bytes / 8;
  switch (kind) {
    case 0: MPI_Barrier(world); break;
    case 1: MPI_Bcast(in, bytes, MPI_BYTE, 0, world); break;
    case 2: MPI_Reduce(in, out, doubles, MPI_DOUBLE, MPI_SUM, 0, world); break;
    case 3: MPI_Allreduce(in, out, doubles, MPI_DOUBLE, MPI_SUM, world); break;
    case 4: MPI_Gather(in, bytes, MPI_BYTE, out, bytes, MPI_BYTE, 0, world); break;
    case 5: MPI_Scatter(in, bytes, MPI_BYTE, out, bytes, MPI_BYTE, 0, world); break;
    case 6: MPI_Allgather(in, bytes, MPI_BYTE, out, bytes, MPI_BYTE, world); break;
    case 7: MPI_Alltoall(in, bytes, MPI_BYTE, out, bytes, MPI_BYTE, world); break;
    case 8: MPI_Reduce_scatter_block(in, out, doubles / ranks, MPI_DOUBLE, MPI_SUM, world); break;
    case 9: MPI_Scan(in, out, doubles, MPI_DOUBLE, MPI_SUM, world); break;
    default: MPI_Exscan(in, out, doubles, MPI_DOUBLE, MPI_SUM, world); break;
  }
}

static long long sent(const char* what) {
  char path[128];
  long long count = -1;
  snprintf(path, sizeof path, "/sys/class/net/eth0/statistics/tx_%s", what);
  FILE* file = fopen(path, "r");
  if (!file || fscanf(file, "%lld", &count) != 1) count = -1;
  if (file) fclose(file);
  return count;
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  bytes = argc > 1 ? atoi(argv[1]) : 8;
  const int calls = argc > 2 ? atoi(argv[2]) : 100;
  in = calloc((size_t)bytes, (size_t)ranks);
  out = calloc((size_t)bytes, (size_t)ranks);
  MPI_Comm node;
  MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, rank, MPI_INFO_NULL, &node);
  int place;
  MPI_Comm_rank(node, &place);
  long long packets[kinds], all_bytes[kinds];
  for (int i = 0; i < warm_calls; ++i) MPI_Barrier(MPI_COMM_WORLD);
  for (int kind = 0; kind < kinds; ++kind) {
    call(kind); /* connections are made at the first message between two */
    MPI_Barrier(MPI_COMM_WORLD);
    packets[kind] = sent("packets");
    all_bytes[kind] = sent("bytes");
    MPI_Barrier(MPI_COMM_WORLD);
    for (int i = 0; i < calls; ++i) call(kind);
    MPI_Barrier(MPI_COMM_WORLD);
    packets[kind] = sent("packets") - packets[kind];
    all_bytes[kind] = sent("bytes") - all_bytes[kind];
  }
  for (int kind = 0; kind < kinds && place == 0; ++kind)
    printf("%d %s %lld %lld\n", rank, names[kind], packets[kind], all_bytes[kind]);
  fflush(stdout);
  MPI_Comm_free(&node);
  MPI_Finalize();
  return 0;
}
