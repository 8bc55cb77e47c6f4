/* Buffers and counts that the standard forbids, of calls that return with every host alone: the same buffer twice, and
   receivers that expect more or less than is sent. Prints what each rank is told and, where it is defined, what it has;
   then the communicator is used once more. To be compared with what the host alone prints. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { most_ranks = 16 };
static int rank, ranks, truncated;
static MPI_Comm comm;
static int *own, *other;
static size_t room;

static void begin(int elements) {
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
  for (int i = 0; i < 12; ++i) {
    int one = 1, all = 0;
    MPI_Allreduce(&one, &all, 1, MPI_INT, MPI_SUM, comm);
  }
  room = (size_t)elements * (size_t)ranks * 2 + 64;
  own = malloc(room * sizeof *own), other = malloc(room * sizeof *other);
  for (size_t i = 0; i < room; ++i) own[i] = rank * 1000 + (int)(i % 997), other[i] = -1;
}

/* `data`: whether what was received is defined. */
static void end(const char* what, int elements, int error, int data) {
  int told[3] = {0, 0, 0}, all[3 * most_ranks], sum = 0;
  MPI_Error_class(error, &told[0]);
  unsigned hash = 5381;
  for (size_t i = 0; i < room && data && !error; ++i) hash = hash * 33 + (unsigned)other[i];
  told[1] = (int)hash;
  MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, comm);
  told[2] = sum;
  MPI_Gather(told, 3, MPI_INT, all, 3, MPI_INT, 0, MPI_COMM_WORLD);
  for (int i = 0; i < ranks && rank == 0; ++i)
    printf("%s of %d: rank %d: class %d, data %x, then %d\n", what, elements, i, all[3 * i], (unsigned)all[3 * i + 1],
           all[3 * i + 2]);
  free(own), free(other);
  MPI_Comm_free(&comm);
}

static void same_buffer_twice(int n) {
  int counts[most_ranks], places[most_ranks], places_bytes[most_ranks];
  MPI_Datatype types[most_ranks];
  for (int i = 0; i < ranks; ++i) counts[i] = n, places[i] = n * i, places_bytes[i] = 4 * n * i, types[i] = MPI_INT;
  begin(n), end("alltoall", n, MPI_Alltoall(own, n, MPI_INT, own, n, MPI_INT, comm), 0);
  begin(n), end("alltoallv", n, MPI_Alltoallv(own, counts, places, MPI_INT, own, counts, places, MPI_INT, comm), 0);
  begin(n);
  end("alltoallw", n, MPI_Alltoallw(own, counts, places_bytes, types, own, counts, places_bytes, types, comm), 0);
  begin(n), end("allreduce", n, MPI_Allreduce(own, own, n, MPI_INT, MPI_SUM, comm), 0);
  if (n > 100) return; /* others wait in vain for a root that has left; with Intel MPI, of MPI_Gather(v) always */
  begin(n), end("reduce", n, MPI_Reduce(own, own, n, MPI_INT, MPI_SUM, 0, comm), 0);
}

/* Between the blocks that were sent, where some hosts leave what they passed on. */
static void forget_gaps(int n) {
  for (int i = 0; i < 2 * n * ranks; ++i)
    if (i / n % 2 != 0) other[i] = -1;
}

static void unequal_counts(int n) {
  int counts[most_ranks], places[most_ranks], doubled[most_ranks];
  for (int i = 0; i < ranks; ++i) counts[i] = n, places[i] = 2 * n * i, doubled[i] = 2 * n;
  begin(n);
  const int gathered = MPI_Gatherv(own, n, MPI_INT, other, doubled, places, MPI_INT, 0, comm);
  forget_gaps(n);
  end("gatherv, more expected", n, gathered, 1);
  begin(n);
  const int gathered_by_all = MPI_Allgatherv(own, n, MPI_INT, other, doubled, places, MPI_INT, comm);
  forget_gaps(n);
  end("allgatherv, more expected", n, gathered_by_all, 1);
  begin(n);
  end("scatterv, more expected", n, MPI_Scatterv(own, counts, places, MPI_INT, other, 2 * n, MPI_INT, 0, comm), 1);
  begin(n);
  counts[rank] = doubled[rank] = n; /* Open MPI compares a rank's message to itself */
  end("alltoallv, more expected", n, MPI_Alltoallv(own, counts, places, MPI_INT, other, doubled, places, MPI_INT, comm),
      1);
  if (ranks == 2) { /* else not every host alone returns */
    begin(n);
    if (rank == 0) memcpy(other, own, sizeof(int) * (size_t)n);
    end("bcast, more expected", n, MPI_Bcast(other, rank == 0 ? n : 2 * n, MPI_INT, 0, comm), 1);
  }
  if (!truncated || n < 40) return;
  /* Last, for MPICH 4 finds what is left of it in a later communicator. Classes differ: MPICH 5.0 says
     MPI_ERR_IN_STATUS. */
  begin(n);
  for (int i = 0; i < ranks; ++i) counts[i] = n;
  const int error = MPI_Gatherv(own, 2 * n, MPI_INT, other, counts, places, MPI_INT, 0, comm);
  end("gatherv, less expected", n, error ? MPI_ERR_TRUNCATE : 0, 0);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  truncated = argc > 1;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank), MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN); /* where Open MPI reports some */
  for (int n = 4; n <= 40000; n *= 100) same_buffer_twice(n);
  for (int n = 4; n <= 40; n *= 10) unequal_counts(n);
  if (rank == 0) puts("done");
  MPI_Finalize();
  return 0;
}
