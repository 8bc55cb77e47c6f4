/* Calls to which rank argv[2] comes late, and what ranks wait by their own clocks: late_ranks CALL LATE, where CALL is
   allreduce, reduce, bcast (both with root 0), scan or split (allreduces of the even and of the odd ranks). Each rank
   prints for whom it waited, how long in all, and how often it came last itself. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { calls = 10, sleep_ns = 5000000, settling_calls = 100, most_ranks = 8 };

static long long now_ns(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return now.tv_sec * 1000000000LL + now.tv_nsec;
}

static void one_call(const char* which, MPI_Comm comm) {
  double in = 1, out = 0;
  if (!strcmp(which, "bcast")) {
    MPI_Bcast(&in, 1, MPI_DOUBLE, 0, comm);
  } else if (!strcmp(which, "reduce")) {
    MPI_Reduce(&in, &out, 1, MPI_DOUBLE, MPI_SUM, 0, comm);
  } else if (!strcmp(which, "scan")) {
    MPI_Scan(&in, &out, 1, MPI_DOUBLE, MPI_SUM, comm);
  } else {
    MPI_Allreduce(&in, &out, 1, MPI_DOUBLE, MPI_SUM, comm);
  }
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  const char* which = argc > 2 ? argv[1] : "allreduce";
  const int late = argc > 2 ? atoi(argv[2]) : 0;
  int world_rank, rank, ranks;
  MPI_Comm_rank(MPI_COMM_WORLD, &world_rank);
  MPI_Comm comm = MPI_COMM_WORLD;
  if (!strcmp(which, "split")) MPI_Comm_split(MPI_COMM_WORLD, world_rank % 2, 0, &comm);
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_size(comm, &ranks);
  for (int call = 0; call < settling_calls; ++call) MPI_Barrier(comm);

  long long came[calls], left[calls], all_came[most_ranks][calls];
  for (int call = 0; call < calls; ++call) {
    MPI_Barrier(comm);
    if (world_rank == late) {
      const struct timespec pause = {0, sleep_ns};
      nanosleep(&pause, NULL);
    }
    came[call] = now_ns();
    one_call(which, comm);
    left[call] = now_ns();
  }
  MPI_Allgather(came, calls, MPI_LONG_LONG, all_came, calls, MPI_LONG_LONG, comm);

  /* For whom this rank has to wait, by the call's nature. */
  int first = 0, end = ranks, last_in = 0;
  if (!strcmp(which, "bcast")) end = rank == 0 ? 0 : 1;
  if (!strcmp(which, "reduce")) end = rank == 0 ? ranks : 0;
  if (!strcmp(which, "scan")) end = rank;
  long long waited_ns = 0;
  for (int call = 0; call < calls; ++call) {
    long long last_ns = came[call];
    int latest = rank;
    for (int other = first; other < end; ++other)
      if (all_came[other][call] > last_ns && all_came[other][call] < left[call]) {
        last_ns = all_came[other][call];
        latest = other;
      }
    waited_ns += last_ns - came[call];
    for (int other = 0; other < ranks; ++other)
      if (all_came[other][call] > all_came[latest][call]) latest = other;
    last_in += latest == rank;
  }
  printf("%d %lld %d\n", world_rank, waited_ns, last_in);
  if (comm != MPI_COMM_WORLD) MPI_Comm_free(&comm);
  MPI_Finalize();
  return 0;
}
