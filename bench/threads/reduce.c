/* MPI_Reduce of floats, SUM, with the predefined op and with an op over millrace_reduce() by 1 and by THREADS threads,
   in turns. Prints on rank 0: bytes host_ns one_ns many_ns host/one host/many largest_bytes, medians of the slowest
   rank; the last is the longest piece that the host gave to the op. */
#include <millrace/millrace.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

enum { most_turns = 41 };
static int longest = 0;

static void reduce_with_kernel(void* in, void* inout, int* length, MPI_Datatype* datatype) {
  (void)datatype;
  if (*length > longest) longest = *length;
  millrace_reduce(MILLRACE_SUM, MILLRACE_F32, in, inout, (size_t)*length);
}

static int ascending(const void* left, const void* right) {
  double difference = *(const double*)left - *(const double*)right;
  return difference < 0 ? -1 : difference > 0;
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank, turns = argc > 1 ? atoi(argv[1]) : 9;
  unsigned threads = argc > 2 ? (unsigned)atoi(argv[2]) : 2;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (turns < 1 || turns > most_turns) MPI_Abort(MPI_COMM_WORLD, 2);
  MPI_Op op;
  MPI_Op_create(reduce_with_kernel, 1, &op);
  for (size_t bytes = (size_t)16 << 20; bytes <= (size_t)256 << 20; bytes *= 4) {
    int count = (int)(bytes / sizeof(float));
    float *in = malloc(bytes), *out = malloc(bytes);
    for (int i = 0; i < count; ++i) in[i] = 1e-3f, out[i] = 1;
    double times[3][most_turns], versus_one[most_turns], versus_many[most_turns];
    for (int turn = -1; turn < turns; ++turn) {
      int at = turn < 0 ? 0 : turn;
      for (int k = 0; k < 3; ++k) {
        int which = (k + turn + 3) % 3;
        millrace_use_threads(which == 2 ? threads : 1, 0);
        MPI_Barrier(MPI_COMM_WORLD);
        double start = MPI_Wtime();
        MPI_Reduce(in, out, count, MPI_FLOAT, which == 0 ? MPI_SUM : op, 0, MPI_COMM_WORLD);
        double mine = (MPI_Wtime() - start) * 1e9;
        MPI_Allreduce(&mine, &times[which][at], 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
      }
      versus_one[at] = times[0][at] / times[1][at], versus_many[at] = times[0][at] / times[2][at];
    }
    for (int k = 0; k < 3; ++k) qsort(times[k], (size_t)turns, sizeof(double), ascending);
    qsort(versus_one, (size_t)turns, sizeof(double), ascending);
    qsort(versus_many, (size_t)turns, sizeof(double), ascending);
    if (rank == 0)
      printf("%zu %.0f %.0f %.0f %.3f %.3f %zu\n", bytes, times[0][turns / 2], times[1][turns / 2], times[2][turns / 2],
             versus_one[turns / 2], versus_many[turns / 2], (size_t)longest * sizeof(float));
    fflush(stdout);
    free(in), free(out);
  }
  MPI_Op_free(&op);
  MPI_Finalize();
  return 0;
}
