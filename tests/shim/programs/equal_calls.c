/* Allreduce of so many bytes, so many times. Arguments: bytes, calls. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  const int doubles = atoi(argv[1]) / 8, calls = atoi(argv[2]);
  double* const in = calloc((size_t)doubles, sizeof *in);
  double* const out = calloc((size_t)doubles, sizeof *out);
  for (int i = 0; i < calls; ++i) MPI_Allreduce(in, out, doubles, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  free(in);
  free(out);
  MPI_Finalize();
  return 0;
}
