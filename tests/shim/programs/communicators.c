/* Calls on communicators of several kinds. Each rank prints for each what it did there: "NAME;RANKS;CALLS;BYTES", as
 * the report is to have them. At least 4 ranks. "threads" as an argument: each of four threads on one of its own. */
#include <mpi.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int rank, ranks;

static void say(const char* name, const char* members, int calls, int bytes) {
  printf("%s;%s;%d;%d\n", name, members, calls, bytes);
}

static MPI_Comm on_thread[4];

static void* work(void* argument) {
  const MPI_Comm comm = *(MPI_Comm*)argument;
  int one = 1, sum;
  for (int i = 0; i < 100; ++i) MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, comm);
  return NULL;
}

static void with_threads(void) {
  pthread_t threads[4];
  for (int i = 0; i < 4; ++i) {
    char name[16];
    snprintf(name, sizeof name, "thread %d", i);
    MPI_Comm_dup(MPI_COMM_WORLD, &on_thread[i]);
    MPI_Comm_set_name(on_thread[i], name);
  }
  for (int i = 0; i < 4; ++i) pthread_create(&threads[i], NULL, work, &on_thread[i]);
  for (int i = 0; i < 4; ++i) pthread_join(threads[i], NULL);
  char all[32];
  snprintf(all, sizeof all, "0-%d", ranks - 1);
  for (int i = 0; i < 4; ++i) {
    char name[16];
    snprintf(name, sizeof name, "thread %d", i);
    say(name, all, 100, 400);
    MPI_Comm_free(&on_thread[i]);
  }
  say("MPI_COMM_WORLD", all, 4, 0);
}

static void in_turn(void) {
  char all[32], alike[64] = "", halves[64];
  double data[64] = {0}, result[64];
  MPI_Comm comm, between;
  MPI_Request request;
  snprintf(all, sizeof all, "0-%d", ranks - 1);
  for (int i = rank % 2; i < ranks; i += 2)
    snprintf(alike + strlen(alike), sizeof alike - strlen(alike), "%s%d", i > 1 ? "," : "", i);

  /* The world: a barrier, what makes communicators, a message to oneself. */
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Sendrecv(data, 5, MPI_DOUBLE, rank, 1, result, 5, MPI_DOUBLE, rank, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);

  /* A name, given after the first call on it. */
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  MPI_Bcast(data, 3, MPI_DOUBLE, 0, comm);
  MPI_Comm_set_name(comm, "solver");
  for (int i = 0; i < 100; ++i) MPI_Allreduce(data, result, 64, MPI_DOUBLE, MPI_SUM, comm);
  MPI_Iallreduce(data, result, 2, MPI_DOUBLE, MPI_SUM, comm, &request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  MPI_Comm_free(&comm);
  say("solver", all, 101, 100 * 512 + 16);

  /* Made and freed again and again: one line of the report. What it is freed by names it no more. */
  for (int i = 0; i < 50; ++i) {
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Bcast(data, 1, MPI_DOUBLE, 0, comm);
    MPI_Comm_free(&comm);
  }
  say("", all, 51, 24 + 50 * 8);

  /* Half of the ranks. */
  MPI_Comm_split(MPI_COMM_WORLD, rank % 2, 0, &comm);
  MPI_Allgather(data, 2, MPI_DOUBLE, result, 2, MPI_DOUBLE, comm);
  say("", alike, 1, 16);
  MPI_Comm_free(&comm);

  /* Each alone. */
  MPI_Barrier(MPI_COMM_SELF);
  MPI_Comm_rank(MPI_COMM_SELF, &(int){0}); /* needs nobody: not counted */
  say("MPI_COMM_SELF", "each alone", 1, 0);

  /* Two groups. */
  const int half = rank < 2 ? 0 : 1;
  MPI_Comm_split(MPI_COMM_WORLD, half, 0, &comm);
  MPI_Intercomm_create(comm, 0, MPI_COMM_WORLD, half == 0 ? 2 : 0, 7, &between);
  MPI_Barrier(between);
  snprintf(halves, sizeof halves, "0-1 with 2-%d", ranks - 1);
  say("", halves, 1, 0);
  MPI_Comm_free(&between);
  say("", half == 0 ? "0-1" : strchr(halves, '2'), 1, 0);
  MPI_Comm_free(&comm);

  say("MPI_COMM_WORLD", all, 2 + 1 + 50 + 2, 40);
}

int main(int argc, char** argv) {
  int provided;
  const int threads = argc > 1 && strcmp(argv[1], "threads") == 0;
  MPI_Init_thread(&argc, &argv, threads ? MPI_THREAD_MULTIPLE : MPI_THREAD_SINGLE, &provided);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  if (threads)
    with_threads();
  else
    in_turn();
  MPI_Finalize();
  return 0;
}
