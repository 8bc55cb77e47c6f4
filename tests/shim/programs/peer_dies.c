/* The last rank ends without a word while the others are in a collective (argument: barrier, bcast, reduce,
   allreduce, gather or scatter, the last two of small blocks), of which it has done some: all but the large ones are
   remembered by then. They must come back with an error within two seconds. The launcher must not have ended them
   before. */
#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int main(int argc, char** argv) {
  int rank, ranks, error = 0;
  static double in[1 << 16], out[1 << 16];
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  MPI_Comm comm;
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
  for (int i = 0; i < 8; ++i) MPI_Barrier(comm);
  double start = MPI_Wtime();
  const char* kind = argc > 1 ? argv[1] : "barrier";
  for (int call = 0; call < 1000 && !error; ++call) {
    if (call == 50 && rank == ranks - 1) {
      usleep(100000);
      raise(SIGKILL);
    }
    if (!strcmp(kind, "barrier")) error = MPI_Barrier(comm);
    if (!strcmp(kind, "bcast")) error = MPI_Bcast(in, 1 << 16, MPI_DOUBLE, ranks - 1, comm);
    if (!strcmp(kind, "reduce")) error = MPI_Reduce(in, out, 1 << 16, MPI_DOUBLE, MPI_SUM, 0, comm);
    if (!strcmp(kind, "allreduce")) error = MPI_Allreduce(in, out, 16, MPI_DOUBLE, MPI_SUM, comm);
    if (!strcmp(kind, "gather")) error = MPI_Gather(in, 32, MPI_DOUBLE, out, 32, MPI_DOUBLE, 0, comm);
    if (!strcmp(kind, "scatter")) error = MPI_Scatter(in, 32, MPI_DOUBLE, out, 32, MPI_DOUBLE, ranks - 1, comm);
  }
  printf("rank %d: %s after %s\n", rank, error ? "an error" : "no error",
         MPI_Wtime() - start < 2.5 ? "less than 2.5 s" : "too long");
  fflush(stdout);
  _exit(0);
}
