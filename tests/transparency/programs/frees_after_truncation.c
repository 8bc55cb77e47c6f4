/* A collective that is ours fails on one rank, whose error handler frees the communicator; the others free theirs and
   all go on with the next. Prints how many errors were handled, and what was wrong.

   Arguments: "repeated" makes calls that succeed with the words of the failing one before it; "short" has a rank expect
   more than comes, of which MPICH tells it, instead of less. */
#include <mpi.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum { rounds = 4, calls_before = 300, most = 100, least = 50, good_calls = 40 };

static MPI_Comm comm;
static int handled, is_short;

static void free_it(MPI_Comm* from, int* error, ...) {
  int class = 0;
  (void)from;
  MPI_Error_class(*error, &class);
  handled += class == (is_short ? MPI_ERR_OTHER : MPI_ERR_TRUNCATE);
  MPI_Comm_free(&comm);
}

int main(int argc, char** argv) {
  int rank, ranks, wrong = 0, all_handled = 0, is_repeated = 0;
  MPI_Errhandler handler;
  MPI_Init(&argc, &argv);
  for (int i = 1; i < argc; ++i) {
    if (!strcmp(argv[i], "repeated")) is_repeated = 1;
    if (!strcmp(argv[i], "short")) is_short = 1;
  }
  const int sent = is_short ? least : most, expected = is_short ? most : least;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  MPI_Comm_create_errhandler(free_it, &handler);
  for (int round = 0; round < rounds; ++round) {
    const int fails = rank == 1 + round % (ranks - 1);
    int data[most];
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Comm_set_errhandler(comm, handler);
    for (int call = 0; call < calls_before; ++call) {
      int own = call + rank, sum = 0;
      MPI_Allreduce(&own, &sum, 1, MPI_INT, MPI_SUM, comm);
      wrong += sum != ranks * call + ranks * (ranks - 1) / 2;
    }
    for (int call = 0; is_repeated && call < good_calls; ++call) {
      for (int i = 0; i < most; ++i) data[i] = rank == 0 ? call + i : -1;
      MPI_Bcast(data, expected, MPI_INT, 0, comm);
      for (int i = 0; i < expected; ++i) wrong += data[i] != call + i;
    }
    for (int i = 0; i < most; ++i) data[i] = rank == 0 ? round + i : -1;
    MPI_Bcast(data, fails ? expected : sent, MPI_INT, 0, comm);
    for (int i = 0; i < most && rank != 0; ++i)
      wrong += data[i] != (i < least || (!fails && i < sent) ? round + i : -1);
    if (!fails) MPI_Comm_free(&comm);
    wrong += comm != MPI_COMM_NULL;
  }
  MPI_Errhandler_free(&handler);
  MPI_Allreduce(&handled, &all_handled, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  printf("%d wrong, %d of %d handled\n", wrong, all_handled, (int)rounds);
  MPI_Finalize();
  return 0;
}
