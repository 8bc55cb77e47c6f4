/* works MS: a program that works for so long and calls MPI twenty times; what a short job is. */
#include <mpi.h>
#include <stdlib.h>

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  const double length_s = argc > 1 ? atof(argv[1]) / 1e3 : 0.0;
  double sum = 0, one = 1;
  for (int i = 0; i < 20; ++i) {
    const double end = MPI_Wtime() + length_s / 20;
    while (MPI_Wtime() < end) one = one * 0.5 + 0.5;
    MPI_Allreduce(&one, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  }
  MPI_Finalize();
  return sum < 1.0;
}
