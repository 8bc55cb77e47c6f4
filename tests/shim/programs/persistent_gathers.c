/* Persistent Gathers and Allgathers whose data change between starts: from the start on that shared memory is agreed on
 * they bring what is there then, which some hosts by themselves do not. Prints "done" on rank 0. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

enum { starts = 40, hosts_own = 12, most = 60000 };

static int wrong(const int* blocks, int ranks, int count, int start) {
  for (int r = 0; r < ranks; ++r)
    if (blocks[r * count] != start * 100 + r || blocks[r * count + count - 1] != start * 100 + r) return 1;
  return 0;
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank, ranks, all_wrong = 0, total = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  int* const own = malloc(most * sizeof(int));
  int* const blocks = malloc((size_t)ranks * most * sizeof(int));
  const int counts[] = {2, 100, 3000, most};
  for (int c = 0; c < 4; ++c) {
    const int count = counts[c];
    MPI_Request requests[2];
    MPI_Allgather_init(own, count, MPI_INT, blocks, count, MPI_INT, MPI_COMM_WORLD, MPI_INFO_NULL, &requests[0]);
    MPI_Gather_init(own, count, MPI_INT, blocks, count, MPI_INT, 1, MPI_COMM_WORLD, MPI_INFO_NULL, &requests[1]);
    for (int kind = 0; kind < 2; ++kind)
      for (int start = 0; start < starts; ++start) {
        for (int i = 0; i < count; ++i) own[i] = start * 100 + rank;
        for (int i = 0; i < ranks * count; ++i) blocks[i] = -1;
        MPI_Start(&requests[kind]);
        MPI_Wait(&requests[kind], MPI_STATUS_IGNORE);
        MPI_Barrier(MPI_COMM_WORLD); /* a rank that is far ahead of a root would do all its starts by the host */
        if (start >= hosts_own && (kind == 0 || rank == 1)) all_wrong += wrong(blocks, ranks, count, start);
      }
    MPI_Request_free(&requests[0]);
    MPI_Request_free(&requests[1]);
  }
  MPI_Allreduce(&all_wrong, &total, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  if (rank == 0 && total == 0) puts("done");
  if (rank == 0 && total != 0) printf("%d wrong\n", total);
  MPI_Finalize();
  return total != 0;
}
