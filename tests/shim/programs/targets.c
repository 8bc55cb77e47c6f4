/* Rank 0 works on one rank at a time while all others sleep in a Barrier: with windows, messages, persistent and
   partitioned requests, on communicators that number the ranks in other ways. Only the rank that is meant is woken; if
   another one were, each step would wait for the sleeper's slice of milliseconds. Prints "what communicator rank us":
   the least time of an operation, and "wrong N", the values that did not arrive. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#if MPI_VERSION >= 4 && !defined(OMPI_MAJOR_VERSION) /* Open MPI 5.0's partitioned messages end the program */
#define HAS_PARTITIONED 1
#else
#define HAS_PARTITIONED 0
#endif

enum { turns = 5, operations = 20, elements = 1 << 15, tag = 3 };

static int world_rank, wrong;
static int *data, *memory;

/* What rank 0 of the world does with `rank` of `comm`, so many times. */
static void work(char what, MPI_Win win, MPI_Request* requests, MPI_Comm comm, int rank) {
  for (int i = 0; i < operations; ++i) {
    if (what == 'w') {
      MPI_Win_lock(MPI_LOCK_EXCLUSIVE, rank, 0, win);
      MPI_Put(data, 64, MPI_INT, rank, 0, 64, MPI_INT, win);
      MPI_Win_flush(rank, win);
      MPI_Win_unlock(rank, win);
    } else if (what == 's') {
      MPI_Ssend(data, elements, MPI_INT, rank, tag, comm);
    } else {
      MPI_Start(&requests[i]);
#if HAS_PARTITIONED
      if (what == 'P') MPI_Pready(0, requests[i]);
#endif
      MPI_Wait(&requests[i], MPI_STATUS_IGNORE);
    }
  }
}

static void make(char what, int target, MPI_Request* requests, MPI_Comm comm, int rank, int source) {
  for (int i = 0; i < operations; ++i) {
    int* const received = memory + i * elements;
    requests[i] = MPI_REQUEST_NULL;
    if (what == 'p' && world_rank == 0) MPI_Ssend_init(data, elements, MPI_INT, rank, tag, comm, &requests[i]);
    if (what == 'p' && target) MPI_Recv_init(received, elements, MPI_INT, source, tag, comm, &requests[i]);
    if (what == 's' && target) MPI_Irecv(received, elements, MPI_INT, source, tag, comm, &requests[i]);
#if HAS_PARTITIONED
    if (what == 'P' && world_rank == 0)
      MPI_Psend_init(data, 1, elements, MPI_INT, rank, i, comm, MPI_INFO_NULL, &requests[i]);
    if (what == 'P' && target)
      MPI_Precv_init(received, 1, elements, MPI_INT, source, i, comm, MPI_INFO_NULL, &requests[i]);
#endif
    if (target && what != 's' && what != 'w') MPI_Start(&requests[i]);
  }
}

static void check(char what, int value) {
  if (what == 'w') wrong += memory[0] != value || memory[63] != value + 63;
  for (int i = 0; i < operations && what != 'w'; ++i)
    wrong += memory[i * elements] != value || memory[(i + 1) * elements - 1] != value + elements - 1;
}

static void turn(char what, const char* name, MPI_Win win, MPI_Comm comm, int rank, int source) {
  MPI_Request requests[operations];
  int own;
  double least = 1e9;
  MPI_Comm_rank(comm, &own);
  const int target = own == rank;
  for (int number = 0; number < turns; ++number) {
    const int value = 1000 * number + rank;
    for (int i = 0; i < elements; ++i) data[i] = value + i;
    memset(memory, 0, operations * elements * sizeof(int));
    make(what, target, requests, comm, rank, source);
    PMPI_Barrier(MPI_COMM_WORLD);
    double begin = 0, end = 0;
    if (world_rank == 0) {
      usleep(20000); /* the others fall asleep, for long slices */
      begin = MPI_Wtime();
      work(what, win, requests, comm, rank);
      end = MPI_Wtime();
    }
    MPI_Barrier(MPI_COMM_WORLD);
    if (target) {
      MPI_Waitall(operations, requests, MPI_STATUSES_IGNORE);
      if (what == 'w') MPI_Win_lock(MPI_LOCK_SHARED, rank, 0, win);
      check(what, value);
      if (what == 'w') MPI_Win_unlock(rank, win);
    }
    for (int i = 0; i < operations; ++i)
      if (requests[i] != MPI_REQUEST_NULL) MPI_Request_free(&requests[i]);
    if (end - begin < least) least = end - begin;
  }
  if (world_rank == 0) printf("%c %s %d %.1f\n", what, name, rank, 1e6 * least / operations), fflush(stdout);
}

int main(int argc, char** argv) {
  static const char* const names[] = {"world", "reversed", "without_1"};
  int ranks, all = 0;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &world_rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  data = malloc(elements * sizeof(int));
  memory = malloc(operations * elements * sizeof(int));
  for (int i = 0; i < 40; ++i) MPI_Barrier(MPI_COMM_WORLD); /* so that the ranks share memory */
  for (int kind = 0; kind < 3; ++kind) {
    MPI_Comm comm = MPI_COMM_WORLD;
    MPI_Win win = MPI_WIN_NULL;
    if (kind > 0)
      MPI_Comm_split(MPI_COMM_WORLD, kind == 2 && world_rank == 1 ? MPI_UNDEFINED : 0, ranks - world_rank, &comm);
    int members = ranks - (kind == 2), source = kind == 0 ? 0 : members - 1;
    if (comm != MPI_COMM_NULL) MPI_Win_create(memory, 64 * sizeof(int), sizeof(int), MPI_INFO_NULL, comm, &win);
    for (const char* what = HAS_PARTITIONED ? "wspP" : "wsp"; *what; ++what)
      for (int rank = 0; rank < members; ++rank) {
        if (rank == source) continue;
        if (comm != MPI_COMM_NULL) {
          turn(*what, names[kind], win, comm, rank, source);
        } else {
          for (int number = 0; number < turns; ++number) PMPI_Barrier(MPI_COMM_WORLD), MPI_Barrier(MPI_COMM_WORLD);
        }
      }
    if (comm != MPI_COMM_NULL) MPI_Win_free(&win);
    if (comm != MPI_COMM_NULL && kind > 0) MPI_Comm_free(&comm);
  }
  MPI_Reduce(&wrong, &all, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
  if (world_rank == 0) printf("wrong %d\n", all);
  MPI_Finalize();
  return 0;
}
