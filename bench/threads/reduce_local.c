/* MPI_Reduce_local (Millrace's, by as many threads as MILLRACE_THREADS says) and PMPI_Reduce_local (the host's) in
   turns: SUM of floats. Prints: elements ours_ns host_ns ratio low high (median and quartiles of host / ours by turn).
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

enum { most_turns = 41 };

static int ascending(const void* left, const void* right) {
  double difference = *(const double*)left - *(const double*)right;
  return difference < 0 ? -1 : difference > 0;
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int turns = argc > 1 ? atoi(argv[1]) : 5, count = 1 << (argc > 2 ? atoi(argv[2]) : 28);
  float *in = malloc(sizeof(float) * (size_t)count), *inout = malloc(sizeof(float) * (size_t)count);
  if (!in || !inout || turns < 1 || turns > most_turns) MPI_Abort(MPI_COMM_WORLD, 2);
  for (int i = 0; i < count; ++i) in[i] = 1e-3f, inout[i] = 1;
  double ours[most_turns], host[most_turns], ratio[most_turns];
  for (int turn = -1; turn < turns; ++turn) {
    int at = turn < 0 ? 0 : turn; /* the first one wakes threads and pages */
    for (int k = 0; k < 2; ++k) {
      int is_ours = (k + turn) & 1;
      double start = MPI_Wtime();
      if (is_ours)
        MPI_Reduce_local(in, inout, count, MPI_FLOAT, MPI_SUM);
      else
        PMPI_Reduce_local(in, inout, count, MPI_FLOAT, MPI_SUM);
      (is_ours ? ours : host)[at] = (MPI_Wtime() - start) * 1e9;
    }
    ratio[at] = host[at] / ours[at];
  }
  qsort(ours, (size_t)turns, sizeof(double), ascending);
  qsort(host, (size_t)turns, sizeof(double), ascending);
  qsort(ratio, (size_t)turns, sizeof(double), ascending);
  printf("%d %.0f %.0f %.3f %.3f %.3f\n", count, ours[turns / 2], host[turns / 2], ratio[turns / 2], ratio[turns / 4],
         ratio[3 * turns / 4]);
  free(in), free(inout);
  MPI_Finalize();
  return 0;
}
