/* Two children are spawned, twice; parents and children use their own worlds and what joins them. */
#include <mpi.h>
#include <stdio.h>

static int wrong;

static void use(MPI_Comm comm) {
  int rank, ranks;
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_size(comm, &ranks);
  for (int i = 0; i < 40; ++i) {
    int own = rank + i, sum = 0, word = rank == i % ranks ? i : -1;
    MPI_Allreduce(&own, &sum, 1, MPI_INT, MPI_SUM, comm);
    MPI_Bcast(&word, 1, MPI_INT, i % ranks, comm);
    wrong += sum != ranks * (ranks - 1) / 2 + ranks * i || word != i;
  }
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm parent, other, joined;
  MPI_Comm_get_parent(&parent);
  const int is_child = parent != MPI_COMM_NULL;
  use(MPI_COMM_WORLD);
  for (int turn = 0; turn < (is_child ? 1 : 2); ++turn) {
    other = parent;
    if (!is_child)
      MPI_Comm_spawn(argv[0], MPI_ARGV_NULL, 2, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &other, MPI_ERRCODES_IGNORE);
    MPI_Intercomm_merge(other, is_child, &joined);
    use(joined);
    use(MPI_COMM_WORLD);
    MPI_Comm twin;
    MPI_Comm_dup(joined, &twin);
    use(twin);
    int all = 0;
    MPI_Reduce(&wrong, &all, 1, MPI_INT, MPI_SUM, 0, joined);
    int rank;
    MPI_Comm_rank(joined, &rank);
    if (rank == 0) printf("turn %d: %d wrong\n", turn, all);
    MPI_Comm_free(&twin);
    MPI_Comm_free(&joined);
    MPI_Comm_disconnect(&other);
  }
  use(MPI_COMM_WORLD);
  MPI_Finalize();
  return 0;
}
