/* 100 + 100 in bytes, first and last element of 65: with the semantics of C, -56. */
#include <mpi.h>
#include <stdio.h>

int main(int argc, char** argv) {
  signed char in[65], inout[65];
  MPI_Init(&argc, &argv);
  for (int i = 0; i < 65; ++i) in[i] = inout[i] = 100;
  MPI_Reduce_local(in, inout, 65, MPI_INT8_T, MPI_SUM);
  printf("%d %d\n", inout[0], inout[64]);
  MPI_Finalize();
}
