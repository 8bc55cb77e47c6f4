/* A program that ends soon: short KIND CALLS COMPUTE_US. Every call is one Allreduce of 8 bytes or one Bcast of 64,
   after so much work of the processor's. KIND: world (all calls on the world), many (on a new duplicate after each 12),
   late (as world; the last rank works ten times as long before each tenth call). Prints the milliseconds from the
   beginning of MPI_Init to the end of MPI_Finalize on the slowest rank that can still say so: rank 0. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { calls_on_a_duplicate = 12 };

static double cpu_us(void) {
  struct timespec time;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
  return (double)time.tv_sec * 1e6 + (double)time.tv_nsec * 1e-3;
}

static double now_ms(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (double)time.tv_sec * 1e3 + (double)time.tv_nsec * 1e-6;
}

static void work(double us) {
  const double end = cpu_us() + us;
  while (cpu_us() < end) {
  }
}

int main(int argc, char** argv) {
  const char* kind = argv[1];
  const int calls = atoi(argv[2]), many = strcmp(kind, "many") == 0, late = strcmp(kind, "late") == 0;
  const double compute_us = atof(argv[3]);
  int rank, ranks;
  const double before_ms = now_ms();
  MPI_Init(&argc, &argv);
  const double start_ms = now_ms();
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  MPI_Comm comm = MPI_COMM_WORLD;
  long wrong = 0;
  for (int i = 0; i < calls; ++i) {
    if (many && i % calls_on_a_duplicate == 0) {
      if (comm != MPI_COMM_WORLD) MPI_Comm_free(&comm);
      MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    }
    work(late && i % 10 == 9 && rank == ranks - 1 ? 10 * compute_us : compute_us);
    double own = rank, sum, data[8] = {0};
    if (i % 2) {
      MPI_Bcast(data, 8, MPI_DOUBLE, 0, comm);
    } else {
      MPI_Allreduce(&own, &sum, 1, MPI_DOUBLE, MPI_SUM, comm);
      wrong += sum != ranks * (ranks - 1) / 2.0;
    }
  }
  MPI_Barrier(MPI_COMM_WORLD);
  if (comm != MPI_COMM_WORLD) MPI_Comm_free(&comm);
  const double end_ms = now_ms();
  MPI_Finalize();
  const double after_ms = now_ms();
  if (rank == 0) printf("%.3f %.3f %ld\n", end_ms - start_ms, after_ms - before_ms, wrong);
  return wrong != 0;
}
