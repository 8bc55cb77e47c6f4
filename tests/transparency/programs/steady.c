/* Collectives for so many milliseconds as the first argument says, with data that no other job has (second
   argument): on the world, on duplicates and halves of it. Prints "done". */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

static int wrong;

static void use(MPI_Comm comm, int seed, int calls) {
  int rank, ranks;
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_size(comm, &ranks);
  for (int call = 0; call < calls; ++call) {
    int own = seed + call + rank, sum = 0;
    if (call % 3 == 0) {
      MPI_Allreduce(&own, &sum, 1, MPI_INT, MPI_SUM, comm);
      wrong += sum != ranks * (seed + call) + ranks * (ranks - 1) / 2;
    } else {
      own = rank == call % ranks ? seed + call : -1;
      MPI_Bcast(&own, 1, MPI_INT, call % ranks, comm);
      wrong += own != seed + call;
    }
  }
}

int main(int argc, char** argv) {
  int rank;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  const int seed = atoi(argv[2]);
  const double end = MPI_Wtime() + atoi(argv[1]) * 1e-3;
  for (int on = 1; on;) {
    MPI_Comm twin, half;
    MPI_Comm_dup(MPI_COMM_WORLD, &twin);
    MPI_Comm_split(MPI_COMM_WORLD, rank % 2, rank, &half);
    use(MPI_COMM_WORLD, seed, 30);
    use(twin, seed, 40);
    use(half, seed, 40);
    MPI_Comm_free(&half);
    MPI_Comm_free(&twin);
    on = MPI_Wtime() < end;
    MPI_Bcast(&on, 1, MPI_INT, 0, MPI_COMM_WORLD);
  }
  if (wrong) printf("%d wrong on rank %d\n", wrong, rank);
  if (rank == 0) printf("done\n");
  MPI_Finalize();
  return wrong != 0;
}
