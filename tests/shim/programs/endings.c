/* Programs that do not end as they should: argv[1] says how. */
#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  double in[512] = {0}, inout[512] = {0};
  MPI_Reduce_local(in, inout, 512, MPI_DOUBLE, MPI_SUM);
  MPI_Allreduce(in, inout, 512, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  const char* how = argc > 1 ? argv[1] : "finalize";
  if (!strcmp(how, "abort")) MPI_Abort(MPI_COMM_WORLD, 5);
  if (!strcmp(how, "kill")) raise(SIGKILL);
  if (!strcmp(how, "exit")) exit(0);
  if (!strcmp(how, "_exit")) _exit(0);
  if (!strcmp(how, "crash")) raise(SIGSEGV);
  if (!strcmp(how, "chdir") && chdir("/")) return 2;
  MPI_Finalize();
  return 0;
}
