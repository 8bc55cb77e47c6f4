/* measured_calls SEED CALLS [LATE]: collectives by chance on the world, a copy of it, its halves and pairs of
   neighbours, with data that are checked; sums of doubles must be the same bits whatever was measured, so their digest
   is printed. Ranks come late by chance, in each run alike, or as LATE has it. */
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { most = 4096, most_ranks = 16 };
static uint64_t state;
static unsigned chance(unsigned below) {
  state = state * 6364136223846793005u + 1442695040888963407u;
  return (unsigned)((state >> 33) % below);
}

static int wrong = 0;
static uint64_t digest = 14695981039346656037u;
static int sent[most * most_ranks], came[most * most_ranks];
static double terms[most], sums[most];

static void expect(int value, int right) { wrong += value != right; }

static void call(MPI_Comm comm, int kind, int count, int root, int number) {
  int rank, ranks;
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_size(comm, &ranks);
  root %= ranks;
  for (int i = 0; i < count * ranks; ++i) sent[i] = number + 1000 * rank + i, came[i] = -1;
  switch (kind) {
    case 0: MPI_Barrier(comm); break;
    case 1:
      for (int i = 0; i < count; ++i) came[i] = rank == root ? number + i : -1;
      MPI_Bcast(came, count, MPI_INT, root, comm);
      for (int i = 0; i < count; ++i) expect(came[i], number + i);
      break;
    case 2:
      MPI_Allreduce(sent, came, count, MPI_INT, MPI_SUM, comm);
      for (int i = 0; i < count; ++i) expect(came[i], ranks * (number + i) + 1000 * (ranks * (ranks - 1) / 2));
      break;
    case 3:
      MPI_Reduce(sent, came, count, MPI_INT, MPI_MAX, root, comm);
      for (int i = 0; i < count && rank == root; ++i) expect(came[i], number + i + 1000 * (ranks - 1));
      break;
    case 4:
      MPI_Gather(sent, count, MPI_INT, came, count, MPI_INT, root, comm);
      for (int i = 0; i < count * ranks && rank == root; ++i) expect(came[i], number + 1000 * (i / count) + i % count);
      break;
    case 5:
      MPI_Scatter(sent, count, MPI_INT, came, count, MPI_INT, root, comm);
      for (int i = 0; i < count; ++i) expect(came[i], number + 1000 * root + rank * count + i);
      break;
    case 6:
      MPI_Allgather(sent, count, MPI_INT, came, count, MPI_INT, comm);
      for (int i = 0; i < count * ranks; ++i) expect(came[i], number + 1000 * (i / count) + i % count);
      break;
    case 7:
      MPI_Alltoall(sent, count, MPI_INT, came, count, MPI_INT, comm);
      for (int i = 0; i < count * ranks; ++i) expect(came[i], number + 1000 * (i / count) + rank * count + i % count);
      break;
    case 8:
      MPI_Scan(sent, came, count, MPI_INT, MPI_SUM, comm);
      for (int i = 0; i < count; ++i) expect(came[i], (rank + 1) * (number + i) + 1000 * (rank * (rank + 1) / 2));
      break;
    case 9:
      MPI_Exscan(sent, came, count, MPI_INT, MPI_SUM, comm);
      for (int i = 0; i < count && rank > 0; ++i) expect(came[i], rank * (number + i) + 1000 * (rank * (rank - 1) / 2));
      break;
    case 10:
      MPI_Reduce_scatter_block(sent, came, count, MPI_INT, MPI_MAX, comm);
      for (int i = 0; i < count; ++i) expect(came[i], number + 1000 * (ranks - 1) + rank * count + i);
      break;
    default:
      for (int i = 0; i < count; ++i) terms[i] = 1.0 / (number + i + 3) * (rank + 1) + 1e-9 * rank;
      MPI_Allreduce(terms, sums, count, MPI_DOUBLE, MPI_SUM, comm);
      for (size_t i = 0; i < sizeof(double) * (size_t)count; ++i)
        digest = (digest ^ ((unsigned char*)sums)[i]) * 1099511628211u;
  }
}

/* Calls that this rank makes alone: what is remembered of the last call of an entry is not the same on all ranks. */
static void call_alone(unsigned kind) {
  int one = (int)kind, sum = -1;
  switch (kind) {
    case 0: MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_SELF); break;
    case 1: MPI_Allgather(&one, 1, MPI_INT, &sum, 1, MPI_INT, MPI_COMM_SELF); break;
    case 2: MPI_Alltoall(&one, 1, MPI_INT, &sum, 1, MPI_INT, MPI_COMM_SELF); break;
    default: MPI_Bcast(&one, 1, MPI_INT, 0, MPI_COMM_SELF), sum = one;
  }
  expect(sum, (int)kind);
}

int main(int argc, char** argv) {
  int rank, ranks, all = 0;
  MPI_Comm comms[4];
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  state = (uint64_t)atoi(argv[1]);
  const int calls = atoi(argv[2]);
  unsigned late = 7u + (unsigned)rank + (argc > 3 ? 1000003u * (unsigned)atoi(argv[3]) : 0u);
  comms[0] = MPI_COMM_WORLD;
  MPI_Comm_dup(MPI_COMM_WORLD, &comms[1]);
  MPI_Comm_split(MPI_COMM_WORLD, rank % 2, rank, &comms[2]);
  MPI_Comm_split(MPI_COMM_WORLD, (rank + 1) / 2, -rank, &comms[3]);
  static const int counts[] = {1, 2, 25, 300, most, 0};
  for (int i = 0; i < calls; ++i) {
    const int comm = (int)chance(4), kind = (int)chance(12), count = counts[chance(6)], root = (int)chance(16);
    late = late * 1664525u + 1013904223u;
    if (late >> 24 == 0) usleep(late >> 16 & 127);
    if (late >> 24 > 200) call_alone(late >> 22 & 3);
    call(comms[comm], kind, count, root, i % 1000);
  }
  MPI_Allreduce(&wrong, &all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  for (int i = 0; i < ranks; ++i) {
    MPI_Barrier(MPI_COMM_WORLD);
    if (i == rank) printf("rank %d: %d wrong, digest %016llx\n", rank, all, (unsigned long long)digest), fflush(stdout);
  }
  for (int i = 1; i < 4; ++i) MPI_Comm_free(&comms[i]);
  MPI_Finalize();
  return 0;
}
