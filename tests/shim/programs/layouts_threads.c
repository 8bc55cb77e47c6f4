/* Threads that exchange messages of derived types at once, each on a communicator of its own, with types that they make
   and free meanwhile. Two ranks; arguments: threads, rounds. Prints "right" or what was wrong. */
#include <mpi.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

enum { MOST_THREADS = 8, MESSAGES = 6, MOST_BLOCKS = 900, ROOM = MOST_BLOCKS * 5 };

static int rank, rounds;
static MPI_Comm comms[MOST_THREADS];
static long wrong[MOST_THREADS];

static void* exchange(void* argument) {
  const int thread = (int)(long)argument;
  unsigned seed = 17u * (unsigned)thread + 1u; /* the same on both ranks */
  int(*sent)[ROOM] = malloc(sizeof(int[MESSAGES][ROOM])), (*received)[ROOM] = malloc(sizeof(int[MESSAGES][ROOM]));
  for (int round = 0; round < rounds; ++round) {
    MPI_Request requests[2 * MESSAGES];
    MPI_Datatype types[MESSAGES];
    int blocks[MESSAGES], length[MESSAGES], stride[MESSAGES];
    for (int message = 0; message < MESSAGES; ++message) {
      blocks[message] = 100 + (int)(rand_r(&seed) % (MOST_BLOCKS - 100));
      length[message] = 1 + (int)(rand_r(&seed) % 3);
      stride[message] = length[message] + (int)(rand_r(&seed) % 2);
      MPI_Type_vector(blocks[message], length[message], stride[message], MPI_INT, &types[message]);
      MPI_Type_commit(&types[message]);
      for (int i = 0; i < ROOM; ++i) {
        sent[message][i] = round * 1000 + thread * 100 + message * 10 + i % 7 + (1 - rank);
        received[message][i] = -1;
      }
      MPI_Irecv(received[message], 1, types[message], 1 - rank, message, comms[thread], &requests[message]);
    }
    for (int message = 0; message < MESSAGES; ++message)
      MPI_Isend(sent[message], 1, types[message], 1 - rank, message, comms[thread], &requests[MESSAGES + message]);
    for (int message = 0; message < MESSAGES; ++message) MPI_Type_free(&types[message]);
    if (round % 3 == 0) {
      for (int left = 2 * MESSAGES; left != 0; --left) {
        int index;
        MPI_Waitany(2 * MESSAGES, requests, &index, MPI_STATUS_IGNORE);
      }
    } else {
      MPI_Waitall(2 * MESSAGES, requests, MPI_STATUSES_IGNORE);
    }
    for (int message = 0; message < MESSAGES; ++message)
      for (int i = 0; i < ROOM; ++i) {
        const int block = i / stride[message], in_block = i % stride[message] < length[message];
        const int is_data = block < blocks[message] && in_block;
        const int expected = is_data ? round * 1000 + thread * 100 + message * 10 + i % 7 + rank : -1;
        if (received[message][i] != expected) ++wrong[thread];
      }
  }
  free(sent);
  free(received);
  return NULL;
}

int main(int argc, char** argv) {
  setvbuf(stdout, NULL, _IOLBF, 0);
  int provided, threads = argc > 1 ? atoi(argv[1]) : 2;
  pthread_t handles[MOST_THREADS];
  rounds = argc > 2 ? atoi(argv[2]) : 100;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
  if (provided != MPI_THREAD_MULTIPLE) {
    printf("no MPI_THREAD_MULTIPLE\n");
    MPI_Finalize();
    return 0;
  }
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  for (int thread = 0; thread < threads; ++thread) MPI_Comm_dup(MPI_COMM_WORLD, &comms[thread]);
  for (long thread = 0; thread < threads; ++thread) pthread_create(&handles[thread], NULL, exchange, (void*)thread);
  for (int thread = 0; thread < threads; ++thread) pthread_join(handles[thread], NULL);
  long all = 0;
  for (int thread = 0; thread < threads; ++thread) {
    all += wrong[thread];
    MPI_Comm_free(&comms[thread]);
  }
  if (all == 0)
    printf("right\n");
  else
    printf("%ld wrong values\n", all);
  MPI_Finalize();
  return 0;
}
