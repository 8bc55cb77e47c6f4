/* Every rank sends to the next one, and in other ways to others, by every call that sends. Rank 0 prints for each pair
 * what was sent, as the program counted it: "FROM TO MESSAGES BYTES", ranks of MPI_COMM_WORLD, -1 for others.
 * "threads" as an argument: from several threads at once. "spawn": to children, over what joins them, too. */
#include <mpi.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { most_ranks = 64, ints = 25, threads = 4, rounds = 200 };

static long long messages[most_ranks + 1], bytes[most_ranks + 1]; /* the last: others */
static int world_rank, world_ranks;
static int out[1000], in[1000];

static void expect(int to, long long size) {
  const int place = to < 0 ? most_ranks : to;
  messages[place] += 1;
  bytes[place] += size;
}

static void* attached;

typedef int send_function(const void*, int, MPI_Datatype, int, int, MPI_Comm);
typedef int isend_function(const void*, int, MPI_Datatype, int, int, MPI_Comm, MPI_Request*);

/* On `comm`, whose ranks are `world[]` of MPI_COMM_WORLD. */
static void send_in_every_way(MPI_Comm comm, const int* world) {
  int rank, ranks;
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_size(comm, &ranks);
  const int next = (rank + 1) % ranks, before = (rank + ranks - 1) % ranks;
  MPI_Request request, twice[2];
  send_function* const sends[] = {MPI_Send, MPI_Bsend, MPI_Ssend, MPI_Rsend};
  for (int i = 0; i < 4; ++i) {
    MPI_Irecv(in, ints, MPI_INT, before, i, comm, &request);
    MPI_Barrier(comm);
    sends[i](out, ints - i, MPI_INT, next, i, comm);
    expect(world[next], 4 * (ints - i));
    MPI_Wait(&request, MPI_STATUS_IGNORE);
  }
  isend_function* const isends[] = {MPI_Isend, MPI_Ibsend, MPI_Issend, MPI_Irsend};
  for (int i = 0; i < 4; ++i) {
    MPI_Irecv(in, ints, MPI_DOUBLE, before, i, comm, &request);
    MPI_Barrier(comm);
    isends[i](out, i, MPI_DOUBLE, next, i, comm, &twice[0]); /* the first one is empty */
    expect(world[next], 8 * i);
    MPI_Wait(&twice[0], MPI_STATUS_IGNORE);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
  }
  MPI_Sendrecv(out, 7, MPI_SHORT, before, 1, in, 7, MPI_SHORT, next, 1, comm, MPI_STATUS_IGNORE);
  expect(world[before], 14);
  MPI_Sendrecv_replace(in, 3, MPI_INT, next, 1, before, 1, comm, MPI_STATUS_IGNORE);
  expect(world[next], 12);
  /* Nothing goes anywhere, but something comes or not. */
  MPI_Send(out, 5, MPI_INT, MPI_PROC_NULL, 1, comm);
  MPI_Sendrecv(out, 5, MPI_INT, MPI_PROC_NULL, 1, in, 5, MPI_INT, MPI_PROC_NULL, 1, comm, MPI_STATUS_IGNORE);
  /* Derived types: both sides, and one. */
  MPI_Datatype columns;
  MPI_Type_vector(50, 1, 3, MPI_INT, &columns);
  MPI_Type_commit(&columns);
  for (int i = 0; i < 3; ++i) {
    MPI_Sendrecv(out, 1, columns, next, 1, in, 1, columns, before, 1, comm, MPI_STATUS_IGNORE);
    expect(world[next], 200);
    MPI_Sendrecv(out, 2, MPI_INT, next, 1, in, 1, columns, before, 1, comm, MPI_STATUS_IGNORE);
    expect(world[next], 8);
    MPI_Irecv(in, 2, columns, before, i, comm, &twice[0]);
    MPI_Isend(out, 2, columns, next, i, comm, &twice[1]);
    MPI_Waitall(2, twice, MPI_STATUSES_IGNORE);
    expect(world[next], 400);
  }
  MPI_Type_free(&columns);
}

static void start_what_was_prepared(MPI_Comm comm, const int* world) {
  int rank, ranks;
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_size(comm, &ranks);
  const int next = (rank + 1) % ranks, before = (rank + ranks - 1) % ranks;
  MPI_Request request[4];
  MPI_Send_init(out, 11, MPI_INT, next, 1, comm, &request[0]);
  MPI_Ssend_init(out, 12, MPI_INT, before, 2, comm, &request[1]);
  MPI_Recv_init(in, 11, MPI_INT, before, 1, comm, &request[2]);
  MPI_Recv_init(in + 500, 12, MPI_INT, next, 2, comm, &request[3]);
  for (int i = 0; i < 5; ++i) {
    MPI_Startall(4, request);
    MPI_Waitall(4, request, MPI_STATUSES_IGNORE);
    expect(world[next], 44);
    expect(world[before], 48);
    MPI_Start(&request[2]);
    MPI_Start(&request[0]);
    MPI_Waitall(4, request, MPI_STATUSES_IGNORE);
    expect(world[next], 44);
  }
  for (int i = 0; i < 4; ++i) MPI_Request_free(&request[i]);
  /* Hosts use the numbers of requests again. */
  for (int i = 0; i < 3; ++i) {
    MPI_Recv_init(in, 1, MPI_INT, before, 1, comm, &request[0]);
    MPI_Send_init(out, 1, MPI_INT, MPI_PROC_NULL, 1, comm, &request[1]);
    MPI_Start(&request[0]);
    MPI_Start(&request[1]);
    MPI_Send(out, 1, MPI_INT, next, 1, comm);
    expect(world[next], 4);
    MPI_Waitall(2, request, MPI_STATUSES_IGNORE);
    MPI_Request_free(&request[0]);
    MPI_Request_free(&request[1]);
  }
}

#if MPI_VERSION >= 4
static void send_as_of_mpi_4(MPI_Comm comm, const int* world) {
  int rank, ranks;
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_size(comm, &ranks);
  const int next = (rank + 1) % ranks, before = (rank + ranks - 1) % ranks;
  MPI_Request request, other;
  MPI_Isendrecv(out, 6, MPI_INT, next, 1, in, 6, MPI_INT, before, 1, comm, &request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  expect(world[next], 24);
#ifndef OPEN_MPI
  MPI_Irecv(in, 9, MPI_INT, before, 1, comm, &request);
  MPI_Send_c(out, 9, MPI_INT, next, 1, comm);
  expect(world[next], 36);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
#endif
#ifdef PARTITIONED
  MPI_Psend_init(out, 4, 10, MPI_INT, next, 1, comm, MPI_INFO_NULL, &request);
  MPI_Precv_init(in, 4, 10, MPI_INT, before, 1, comm, MPI_INFO_NULL, &other);
  for (int i = 0; i < 2; ++i) {
    MPI_Start(&other);
    MPI_Start(&request);
    MPI_Pready_range(0, 3, request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Wait(&other, MPI_STATUS_IGNORE);
    expect(world[next], 160);
  }
  MPI_Request_free(&request);
  MPI_Request_free(&other);
#else
  (void)other;
#endif
}
#endif

static void send_between(MPI_Comm other, int rank) {
  int ranks;
  MPI_Comm_remote_size(other, &ranks);
  if (rank < ranks) {
    MPI_Sendrecv(out, 3, MPI_INT, rank, 1, in, 3, MPI_INT, rank, 1, other, MPI_STATUS_IGNORE);
    expect(-1, 12);
  }
}

static void* send_from_a_thread(void* number) {
  const int tag = *(int*)number, next = (world_rank + 1) % world_ranks,
            before = (world_rank + world_ranks - 1) % world_ranks;
  for (int i = 0; i < rounds; ++i) {
    int got;
    MPI_Sendrecv(&i, 1, MPI_INT, next, tag, &got, 1, MPI_INT, before, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  }
  return NULL;
}

static void send_from_threads(void) {
  pthread_t id[threads];
  int number[threads];
  for (int i = 0; i < threads; ++i) {
    number[i] = i;
    pthread_create(&id[i], NULL, send_from_a_thread, &number[i]);
  }
  for (int i = 0; i < threads; ++i) pthread_join(id[i], NULL);
  for (int i = 0; i < threads * rounds; ++i) expect((world_rank + 1) % world_ranks, 4);
}

/* Parents come first in what joins them. */
static void send_to_children(MPI_Comm parent, char* program) {
  MPI_Comm other = parent, joined;
  char* arguments[] = {"spawn", NULL};
  if (parent == MPI_COMM_NULL)
    MPI_Comm_spawn(program, arguments, 2, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &other, MPI_ERRCODES_IGNORE);
  send_between(other, world_rank);
  MPI_Intercomm_merge(other, parent != MPI_COMM_NULL, &joined);
  int rank, ranks;
  MPI_Comm_rank(joined, &rank);
  MPI_Comm_size(joined, &ranks);
  for (int turn = 1; turn < ranks; ++turn) {
    const int to = (rank + turn) % ranks, from = (rank + ranks - turn) % ranks;
    MPI_Sendrecv(out, turn, MPI_INT, to, 1, in, turn, MPI_INT, from, 1, joined, MPI_STATUS_IGNORE);
    const int first = parent == MPI_COMM_NULL ? 0 : ranks - world_ranks;
    const int place = to - first;
    expect(place >= 0 && place < world_ranks ? place : -1, 4 * turn);
  }
  MPI_Comm_free(&joined);
  MPI_Comm_disconnect(&other);
}

static void say(void) {
  long long own[2 * (most_ranks + 1)], all[most_ranks][2 * (most_ranks + 1)];
  memcpy(own, messages, sizeof messages);
  memcpy(own + most_ranks + 1, bytes, sizeof bytes);
  MPI_Gather(own, 2 * (most_ranks + 1), MPI_LONG_LONG, all, 2 * (most_ranks + 1), MPI_LONG_LONG, 0, MPI_COMM_WORLD);
  for (int from = 0; world_rank == 0 && from < world_ranks; ++from)
    for (int to = 0; to <= most_ranks; ++to)
      if (all[from][to] > 0)
        printf("%d %d %lld %lld\n", from, to == most_ranks ? -1 : to, all[from][to], all[from][most_ranks + 1 + to]);
}

int main(int argc, char** argv) {
  int provided, same[most_ranks], reversed[most_ranks];
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
  const char* how = argc > 1 ? argv[1] : "";
  MPI_Comm_rank(MPI_COMM_WORLD, &world_rank);
  MPI_Comm_size(MPI_COMM_WORLD, &world_ranks);
  MPI_Buffer_attach(attached = malloc(1 << 20), 1 << 20);
  for (int i = 0; i < world_ranks; ++i) {
    same[i] = i;
    reversed[i] = world_ranks - 1 - i;
  }
  if (strcmp(how, "spawn") == 0) {
    MPI_Comm parent;
    MPI_Comm_get_parent(&parent);
    send_to_children(parent, argv[0]);
    if (parent == MPI_COMM_NULL) say();
  } else {
    send_in_every_way(MPI_COMM_WORLD, same);
    start_what_was_prepared(MPI_COMM_WORLD, same);
#if MPI_VERSION >= 4
    send_as_of_mpi_4(MPI_COMM_WORLD, same);
#endif
    /* A handle that comes again is another communicator. */
    for (int turn = 0; turn < 4; ++turn) {
      MPI_Comm comm;
      MPI_Comm_split(MPI_COMM_WORLD, 0, turn % 2 == 0 ? world_ranks - world_rank : world_rank, &comm);
      send_in_every_way(comm, turn % 2 == 0 ? reversed : same);
      start_what_was_prepared(comm, turn % 2 == 0 ? reversed : same);
      MPI_Comm_free(&comm);
    }
    MPI_Comm half, between;
    const int is_first = world_rank == 0;
    MPI_Comm_split(MPI_COMM_WORLD, is_first, 0, &half);
    MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, is_first ? 1 : 0, 5, &between);
    send_between(between, is_first ? 0 : world_rank - 1);
    MPI_Comm_free(&between);
    MPI_Comm_free(&half);
    if (strcmp(how, "threads") == 0 && provided == MPI_THREAD_MULTIPLE) send_from_threads();
    say();
  }
  int size;
  MPI_Buffer_detach(&attached, &size);
  free(attached);
  MPI_Finalize();
  return 0;
}
