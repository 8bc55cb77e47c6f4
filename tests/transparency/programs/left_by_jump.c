/* An error handler leaves by longjmp, on one rank, after so many calls; the others and it go on. Each rank prints
   what was wrong. */
#include <mpi.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

static jmp_buf place;

static void leave(MPI_Comm* comm, int* error, ...) {
  (void)comm;
  (void)error;
  longjmp(place, 1);
}

int main(int argc, char** argv) {
  int rank, ranks, wrong = 0, jumps = 0;
  MPI_Errhandler handler;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  MPI_Comm_create_errhandler(leave, &handler);
  for (volatile int before = 0; before < 20; ++before) {
    MPI_Comm comm;
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Comm_set_errhandler(comm, handler);
    for (volatile int call = 0; call < before + 30; ++call) {
      if (call == before && rank == before % ranks) {
        int data = 0;
        if (setjmp(place) == 0)
          MPI_Bcast(&data, -1, MPI_INT, 0, comm);
        else
          ++jumps;
      }
      int own = call + rank, sum = 0;
      MPI_Allreduce(&own, &sum, 1, MPI_INT, MPI_SUM, comm);
      wrong += sum != ranks * call + ranks * (ranks - 1) / 2;
      own = rank == call % ranks ? call : -1;
      MPI_Bcast(&own, 1, MPI_INT, call % ranks, comm);
      wrong += own != call;
    }
    MPI_Comm_free(&comm);
  }
  MPI_Errhandler_free(&handler);
  printf("rank %d: %d wrong, %d jumps\n", rank, wrong, jumps);
  MPI_Finalize();
  return 0;
}
