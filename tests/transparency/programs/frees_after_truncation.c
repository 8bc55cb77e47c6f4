/* A collective that is ours fails on one rank, whose error handler frees the communicator; the others free theirs and
   all go on with the next. Prints how many errors were handled, and what was wrong. */
#include <mpi.h>
#include <stdarg.h>
#include <stdio.h>

enum { rounds = 4, calls_before = 300, sent = 100, expected = 50 };

static MPI_Comm comm;
static int handled;

static void free_it(MPI_Comm* from, int* error, ...) {
  int class = 0;
  (void)from;
  MPI_Error_class(*error, &class);
  handled += class == MPI_ERR_TRUNCATE;
  MPI_Comm_free(&comm);
}

int main(int argc, char** argv) {
  int rank, ranks, wrong = 0, all_handled = 0;
  MPI_Errhandler handler;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  MPI_Comm_create_errhandler(free_it, &handler);
  for (int round = 0; round < rounds; ++round) {
    const int fails = rank == 1 + round % (ranks - 1);
    int data[sent];
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Comm_set_errhandler(comm, handler);
    for (int call = 0; call < calls_before; ++call) {
      int own = call + rank, sum = 0;
      MPI_Allreduce(&own, &sum, 1, MPI_INT, MPI_SUM, comm);
      wrong += sum != ranks * call + ranks * (ranks - 1) / 2;
    }
    for (int i = 0; i < sent; ++i) data[i] = rank == 0 ? round + i : -1;
    MPI_Bcast(data, fails ? expected : sent, MPI_INT, 0, comm);
    for (int i = 0; i < sent; ++i) wrong += data[i] != (fails && i >= expected ? -1 : round + i);
    if (!fails) MPI_Comm_free(&comm);
    wrong += comm != MPI_COMM_NULL;
  }
  MPI_Errhandler_free(&handler);
  MPI_Allreduce(&handled, &all_handled, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  printf("%d wrong, %d of %d handled\n", wrong, all_handled, (int)rounds);
  MPI_Finalize();
  return 0;
}
