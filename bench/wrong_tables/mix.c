/* mix ROUNDS: collectives of several kinds and sizes, in an order that all ranks know, each a few times in a row, timed
   as one. Prints for each class the median time of a call in us, over the last half of the rounds, of the slowest rank,
   and, of two ranks, "line 0 NS" and "line 1 NS": how long a cache line took from one to the other in these rounds, in
   the least and the most of some looks, but for one of eight at either end.
 */
#define _GNU_SOURCE
#include <mpi.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

enum { most_bytes = 256 << 10, classes = 20, most_rounds = 16000, looks = 16, trips = 500 };

struct class {
  char kind;
  const char* name;
  int bytes, calls;
};
static const struct class all[classes] = {
    {'b', "barrier", 0, 16},       {'B', "bcast", 64, 16},     {'B', "bcast", 8192, 16},
    {'B', "bcast", 262144, 2},     {'r', "reduce", 64, 16},    {'r', "reduce", 8192, 16},
    {'r', "reduce", 262144, 2},    {'a', "allreduce", 64, 16}, {'a', "allreduce", 8192, 16},
    {'a', "allreduce", 262144, 2}, {'g', "gather", 64, 16},    {'g', "gather", 8192, 16},
    {'g', "gather", 262144, 2},    {'s', "scatter", 64, 16},   {'s', "scatter", 8192, 16},
    {'s', "scatter", 262144, 2},   {'G', "allgather", 64, 16}, {'G', "allgather", 8192, 16},
    {'A', "alltoall", 64, 16},     {'A', "alltoall", 8192, 16}};
static float times[classes][most_rounds];

static void call(char kind, const int* in, int* out, int n) {
  const MPI_Comm w = MPI_COMM_WORLD;
  switch (kind) {
    case 'b': MPI_Barrier(w); break;
    case 'B': MPI_Bcast(out, n, MPI_INT, 0, w); break;
    case 'r': MPI_Reduce(in, out, n, MPI_INT, MPI_SUM, 0, w); break;
    case 'a': MPI_Allreduce(in, out, n, MPI_INT, MPI_SUM, w); break;
    case 'g': MPI_Gather(in, n, MPI_INT, out, n, MPI_INT, 0, w); break;
    case 's': MPI_Scatter(in, n, MPI_INT, out, n, MPI_INT, 0, w); break;
    case 'G': MPI_Allgather(in, n, MPI_INT, out, n, MPI_INT, w); break;
    default: MPI_Alltoall(in, n, MPI_INT, out, n, MPI_INT, w);
  }
}

/* ns of a line from one rank to the other. */
static float line_ns(_Atomic int* line, int rank) {
  PMPI_Barrier(MPI_COMM_WORLD);
  const int first = atomic_load(line);
  PMPI_Barrier(MPI_COMM_WORLD);
  const double begin = PMPI_Wtime();
  for (int trip = first + rank; rank < 2 && trip < first + 2 * trips; trip += 2) {
    while (atomic_load_explicit(line, memory_order_acquire) != trip) {
    }
    atomic_store_explicit(line, trip + 1, memory_order_release);
  }
  const float ns = (float)((PMPI_Wtime() - begin) * 1e9 / (2 * trips));
  PMPI_Barrier(MPI_COMM_WORLD);
  return ns;
}

/* Where ranks share processors, always the same ones do: a launch in which 0 and 1 share one is faster or slower than
   one in which 0 and 2 do, by as much as one table is than another. */
static void bind_to_a_processor(int rank, int ranks) {
  cpu_set_t all, own;
  CPU_ZERO(&own);
  if (sched_getaffinity(0, sizeof all, &all) != 0 || CPU_COUNT(&all) >= ranks) return;
  int left = rank % CPU_COUNT(&all);
  for (int processor = 0; processor < CPU_SETSIZE; ++processor)
    if (CPU_ISSET(processor, &all) && left-- == 0) CPU_SET(processor, &own);
  sched_setaffinity(0, sizeof own, &own);
}

static int by_time(const void* a, const void* b) {
  const float x = *(const float*)a, y = *(const float*)b;
  return (x > y) - (x < y);
}

int main(int argc, char** argv) {
  int rank, ranks;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  bind_to_a_processor(rank, ranks);
  int rounds = argc > 1 ? atoi(argv[1]) : 400;
  if (rounds > most_rounds) rounds = most_rounds;
  int *in = calloc((size_t)ranks, most_bytes), *out = calloc((size_t)ranks, most_bytes);
  MPI_Win window = MPI_WIN_NULL;
  _Atomic int* line = NULL;
  float lines[looks];
  if (ranks == 2) {
    MPI_Aint bytes;
    int unit;
    MPI_Win_allocate_shared(rank == 0 ? 128 : 0, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &line, &window);
    MPI_Win_shared_query(window, 0, &bytes, &unit, &line);
    if (rank == 0) atomic_store(line, 0);
  }
  uint32_t state = 12345;
  for (int round = 0; round < rounds; ++round) {
    for (int look = 0; look < looks && line; ++look)
      if (round == rounds / 2 + (rounds - rounds / 2) * look / looks) lines[look] = line_ns(line, rank);
    for (int i = 0; i < classes; ++i) {
      state = state * 1664525u + 1013904223u;
      const int which = (int)((state >> 16) + (uint32_t)i) % classes;
      const struct class* c = &all[which];
      PMPI_Barrier(MPI_COMM_WORLD);
      const double begin = PMPI_Wtime();
      for (int k = 0; k < c->calls; ++k) call(c->kind, in, out, c->bytes / 4);
      float us = (float)((PMPI_Wtime() - begin) * 1e6 / c->calls), most = 0;
      PMPI_Allreduce(&us, &most, 1, MPI_FLOAT, MPI_MAX, MPI_COMM_WORLD);
      times[which][round] = most;
    }
  }
  if (line) {
    qsort(lines, looks, sizeof *lines, by_time);
    for (int end = 0; end < 2 && rank == 0; ++end)
      printf("line %d %.1f\n", end, (double)lines[end == 0 ? looks / 8 : looks - 1 - looks / 8]);
    MPI_Win_free(&window);
  }
  for (int i = 0; i < classes && rank == 0; ++i) {
    float* late = times[i] + rounds / 2;
    int count = 0;
    for (int k = 0; k < rounds - rounds / 2; ++k)
      if (late[k] > 0) late[count++] = late[k];
    qsort(late, (size_t)count, sizeof *late, by_time);
    if (count > 0) printf("%s %d %.4f\n", all[i].name, all[i].bytes, (double)late[count / 2]);
  }
  free(in), free(out);
  MPI_Finalize();
  return 0;
}
