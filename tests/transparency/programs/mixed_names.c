/* The same collective under its MPI name on some ranks and under its PMPI name on others, which no library between may
   see; and communicators made so. */
#include <mpi.h>
#include <stdio.h>

enum { calls = 60 };

static int rank, ranks, wrong;

static void work(MPI_Comm comm) {
  for (int i = 0; i < calls; ++i) {  // alike on all ranks first: who counts them could agree
    int own = 1, sum = 0;
    MPI_Allreduce(&own, &sum, 1, MPI_INT, MPI_SUM, comm);
    wrong += sum != ranks;
  }
  for (int i = 0; i < calls; ++i) {
    int sum = 0, own = rank + i, root = i % ranks, word = rank == root ? 1000 + i : -1;
    const int behind = (i + rank) % 3 == 0;
    (behind ? PMPI_Bcast : MPI_Bcast)(&word, 1, MPI_INT, root, comm);
    if (i % 4 == rank % 4)
      PMPI_Allreduce(&own, &sum, 1, MPI_INT, MPI_SUM, comm);
    else
      MPI_Allreduce(&own, &sum, 1, MPI_INT, MPI_SUM, comm);
    wrong += word != 1000 + i;
    wrong += sum != ranks * (ranks - 1) / 2 + ranks * i;
  }
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  work(MPI_COMM_WORLD);
  MPI_Comm first, second;
  (rank == 0 ? PMPI_Comm_dup : MPI_Comm_dup)(MPI_COMM_WORLD, &first);
  MPI_Comm_dup(MPI_COMM_WORLD, &second);
  for (int i = 0; i < calls; ++i) {  // on rank 0 the second is the first that is seen
    int own = 1, sum = 0;
    MPI_Allreduce(&own, &sum, 1, MPI_INT, MPI_SUM, i % 2 ? first : second);
    wrong += sum != ranks;
  }
  work(first);
  work(second);
  printf("rank %d: %d wrong\n", rank, wrong);
  MPI_Comm_free(&first);
  MPI_Comm_free(&second);
  MPI_Finalize();
  return 0;
}
