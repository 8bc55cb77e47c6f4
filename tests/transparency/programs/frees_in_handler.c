/* An error handler frees the communicator that the error came from, on one rank; the others free theirs themselves
   and all go on with the next. Each rank prints what was wrong. */
#include <mpi.h>
#include <stdarg.h>
#include <stdio.h>

static MPI_Comm comm;
static int handled;

static void free_it(MPI_Comm* from, int* error, ...) {
  (void)from;
  (void)error;
  ++handled;
  if (comm != MPI_COMM_NULL) MPI_Comm_free(&comm);
}

int main(int argc, char** argv) {
  int rank, ranks, wrong = 0;
  MPI_Errhandler handler;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  MPI_Comm_create_errhandler(free_it, &handler);
  for (int round = 0; round < 25; ++round) {
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Comm_set_errhandler(comm, handler);
    for (int call = 0; call < round; ++call) {
      int own = call + rank, sum = 0;
      MPI_Allreduce(&own, &sum, 1, MPI_INT, MPI_SUM, comm);
      wrong += sum != ranks * call + ranks * (ranks - 1) / 2;
    }
    if (rank == round % ranks) {
      int data = 0;
      MPI_Bcast(&data, -1, MPI_INT, 0, comm);
    } else {
      MPI_Comm_free(&comm);
    }
    wrong += comm != MPI_COMM_NULL;
  }
  MPI_Errhandler_free(&handler);
  printf("rank %d: %d wrong, %d handled\n", rank, wrong, handled);
  MPI_Finalize();
  return 0;
}
