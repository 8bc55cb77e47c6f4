/* Allreduce of 0, 1, 2, 4 ... 32768 chars, of 2^k as many times as k + 1 says, and one less than each from 4 on. */
#include <mpi.h>
#include <stdio.h>

int main(int argc, char** argv) {
  static signed char from[1 << 15], to[1 << 15];
  MPI_Init(&argc, &argv);
  MPI_Allreduce(from, to, 0, MPI_SIGNED_CHAR, MPI_MAX, MPI_COMM_WORLD);
  for (int k = 0; k <= 15; ++k) {
    for (int i = 0; i <= k; ++i) MPI_Allreduce(from, to, 1 << k, MPI_SIGNED_CHAR, MPI_MAX, MPI_COMM_WORLD);
    if (k >= 2) MPI_Allreduce(from, to, (1 << k) - 1, MPI_SIGNED_CHAR, MPI_MAX, MPI_COMM_WORLD);
  }
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Finalize();
  return 0;
}
