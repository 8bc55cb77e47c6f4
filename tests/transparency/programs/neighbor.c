/* Some 20 kinds of calls, with results that are compared with what they must be. An argument is a library that is
   loaded with local scope first. */
#include <dlfcn.h>
#include <mpi.h>
#include <stdio.h>
#include <string.h>

enum { rounds = 200, length = 64, others = 8, collective_rounds = 24, long_length = 20000 };

static int wrong = 0;
static void expect(int condition) { wrong += !condition; }

static void messages(int rank, int ranks) {
  double grid[2 * length], column[length];
  MPI_Datatype strided;
  MPI_Type_vector(length, 1, 2, MPI_DOUBLE, &strided);
  MPI_Type_commit(&strided);
  for (int i = 0; i < 2 * length; ++i) grid[i] = rank * 1000 + i;
  const int next = (rank + 1) % ranks, previous = (rank + ranks - 1) % ranks;
  for (int i = 0; i < others; ++i) {
    MPI_Request requests[2];
    MPI_Irecv(column, length, MPI_DOUBLE, previous, i, MPI_COMM_WORLD, &requests[0]);
    MPI_Isend(grid, 1, strided, next, i, MPI_COMM_WORLD, &requests[1]);
    if (i % 2 == 0) {
      MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    } else {
      int which;
      MPI_Waitany(2, requests, &which, MPI_STATUS_IGNORE);
      MPI_Wait(&requests[1 - which], MPI_STATUS_IGNORE);
    }
    expect(column[length - 1] == previous * 1000 + 2 * (length - 1));
    int place = 0;
    MPI_Pack(grid, 1, strided, column, sizeof column, &place, MPI_COMM_WORLD);
    expect(place == sizeof column && column[1] == rank * 1000 + 2);
  }
  MPI_Type_free(&strided);
}

static void collectives(MPI_Comm comm, int rank, int ranks) {
  static int many[long_length], sums[long_length];
  int all[64], words[64], sum;
  for (int i = 0; i < collective_rounds; ++i) {
    int word = rank + i;
    MPI_Reduce(&word, &sum, 1, MPI_INT, MPI_MAX, 0, comm);
    expect(rank != 0 || sum == ranks - 1 + i);
    MPI_Bcast(&word, 1, MPI_INT, i % ranks, comm);
    expect(word == i % ranks + i);
    MPI_Barrier(comm);
    int flag;
    MPI_Iprobe(MPI_ANY_SOURCE, 99, comm, &flag, MPI_STATUS_IGNORE);
    expect(!flag);
    word = 1;
    MPI_Scan(&word, &sum, 1, MPI_INT, MPI_SUM, comm);
    expect(sum == rank + 1);
    MPI_Allgather(&rank, 1, MPI_INT, all, 1, MPI_INT, comm);
    expect(all[ranks - 1] == ranks - 1);
    for (int r = 0; r < ranks; ++r) words[r] = rank * 64 + r;
    MPI_Alltoall(words, 1, MPI_INT, all, 1, MPI_INT, comm);
    expect(all[ranks - 1] == (ranks - 1) * 64 + rank);
    MPI_Request request;
    many[long_length - 1] = rank + i;
    MPI_Iallreduce(many, sums, long_length, MPI_INT, MPI_SUM, comm, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    expect(sums[long_length - 1] == ranks * (ranks - 1) / 2 + ranks * i);
    sum = ranks;
    MPI_Reduce_local(&word, &sum, 1, MPI_INT, MPI_SUM);
    expect(sum == ranks + 1);
  }
}

int main(int argc, char** argv) {
  if (argc > 1 && !dlopen(argv[1], RTLD_NOW | RTLD_LOCAL)) printf("%s\n", dlerror());
  MPI_Init(&argc, &argv);
  int rank, ranks;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  for (int i = 0; i < rounds; ++i) {
    double value[2] = {rank, i}, sum[2];
    MPI_Allreduce(value, sum, 2, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    expect(sum[0] == ranks * (ranks - 1) / 2 && sum[1] == (double)ranks * i);
  }
  MPI_Pcontrol(2);
  MPI_Comm copy;
  MPI_Comm_dup(MPI_COMM_WORLD, &copy);
  collectives(MPI_COMM_WORLD, rank, ranks);
  collectives(copy, rank, ranks);
  messages(rank, ranks);
  MPI_Comm_free(&copy);
  printf("rank %d: %d wrong\n", rank, wrong);
  fflush(stdout);
  MPI_Finalize();
  return 0;
}
