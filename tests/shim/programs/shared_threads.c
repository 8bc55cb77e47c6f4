/* Threads of each rank make collectives at once, each thread on communicators of its own, from the first calls on, in
   which the ranks agree about them. Every result is checked. Arguments: threads, calls of each thread, how often each
   gives its communicator back and makes another (that, too, while the others are in the middle of calls).
   Prints "no threads" where MPI_THREAD_MULTIPLE is not to be had, else "done" or how much was wrong. */
#include <mpi.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

enum { most_threads = 8, most_ints = 20000 };
static int world_rank, ranks, calls, renewals;

static uint64_t mix(uint64_t x) {
  x ^= x >> 33, x *= 0xff51afd7ed558ccdu, x ^= x >> 33, x *= 0xc4ceb9fe1a85ec53u;
  return x ^ x >> 33;
}
static uint32_t value(uint64_t call, int rank, int index) {
  return (uint32_t)mix(call * 64 + (uint64_t)rank) + 7u * (uint32_t)index;
}

struct thread {
  pthread_t id;
  int number, wrong;
  MPI_Comm base, comm; /* base: for making the other */
};

static void one_call(struct thread* t, int call, uint32_t* in, uint32_t* out) {
  uint64_t key = (uint64_t)call * most_threads + (uint64_t)t->number, drawn = mix(key);
  int rank, root = (int)(drawn >> 16 & 0xff) % ranks, kind = (int)(drawn % 4);
  int count = 1 + (int)(drawn >> 24 & 0xffff) % (drawn >> 40 & 63 ? 64 : most_ints);
  MPI_Comm_rank(t->comm, &rank);
  if (kind == 0) {
    MPI_Barrier(t->comm);
    return;
  }
  for (int i = 0; i < count; ++i)
    in[i] = value(key, kind == 1 ? 0 : rank, i), out[i] = kind == 1 && rank == root ? in[i] : 0;
  if (kind == 1)
    MPI_Bcast(out, count, MPI_UINT32_T, root, t->comm);
  else if (kind == 2)
    MPI_Reduce(in, out, count, MPI_UINT32_T, MPI_SUM, root, t->comm);
  else
    MPI_Allreduce(in, out, count, MPI_UINT32_T, MPI_SUM, t->comm);
  if (kind == 2 && rank != root) return;
  for (int i = 0; i < count; i += count / 3 + 1) {
    uint32_t expected = 0;
    for (int k = 0; k < (kind == 1 ? 1 : ranks); ++k) expected += value(key, k, i);
    if (out[i] != expected && t->wrong++ < 3)
      printf("rank %d, thread %d: call %d of kind %d is wrong\n", world_rank, t->number, call, kind);
  }
}

static void* work(void* argument) {
  struct thread* t = argument;
  uint32_t *in = malloc(most_ints * sizeof *in), *out = malloc(most_ints * sizeof *out);
  for (int turn = 0; turn <= renewals; ++turn) {
    MPI_Comm_split(t->base, 0, turn % 2 ? -world_rank : world_rank, &t->comm);
    for (int i = 0; i < 8; ++i) MPI_Barrier(t->comm);
    for (int call = 0; call < calls / (renewals + 1); ++call) one_call(t, turn * calls + call, in, out);
    MPI_Comm_free(&t->comm);
  }
  free(in), free(out);
  return NULL;
}

int main(int argc, char** argv) {
  int provided, wrong = 0, total = 0, threads = argc > 1 ? atoi(argv[1]) : 2;
  calls = argc > 2 ? atoi(argv[2]) : 1000, renewals = argc > 3 ? atoi(argv[3]) : 0;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
  MPI_Comm_rank(MPI_COMM_WORLD, &world_rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  if (provided < MPI_THREAD_MULTIPLE) {
    if (world_rank == 0) printf("no threads\n");
    MPI_Finalize();
    return 0;
  }
  struct thread all[most_threads] = {{0}};
  for (int i = 0; i < threads; ++i) all[i].number = i, MPI_Comm_dup(MPI_COMM_WORLD, &all[i].base);
  for (int i = 0; i < threads; ++i) pthread_create(&all[i].id, NULL, work, &all[i]);
  for (int i = 0; i < threads; ++i) pthread_join(all[i].id, NULL), wrong += all[i].wrong, MPI_Comm_free(&all[i].base);
  MPI_Allreduce(&wrong, &total, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  if (world_rank == 0) printf(total ? "%d wrong\n" : "done\n", total);
  MPI_Finalize();
  return total != 0;
}
