/* user_ops LOG2 TURNS: MPI_Reduce of 2^LOG2 floats by MPI_SUM, by a user's op whose loop is vectorised, and by one that
   makes tasks of its loop (Weeks et al., "Accelerating MPI Reductions on Intel Xeon Phi"), in turns. Prints on rank 0:
   op median_ns low_ns high_ns, of the slowest rank. Threads: OMP_NUM_THREADS. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

enum { most_turns = 41, ops = 3 };
static const char* const names[ops] = {"predefined", "vectorised", "taskloop"};

static void vectorised(void* in, void* inout, int* length, MPI_Datatype* type) {
  (void)type;
  const float* restrict a = in;
  float* restrict b = inout;
  const int n = *length;
#pragma omp simd
  for (int i = 0; i < n; ++i) b[i] += a[i];
}

static void taskloop(void* in, void* inout, int* length, MPI_Datatype* type) {
  (void)type;
  const float* restrict a = in;
  float* restrict b = inout;
  const int n = *length;
#pragma omp taskloop simd default(shared) priority(1)
  for (int i = 0; i < n; ++i) b[i] += a[i];
}

static int ascending(const void* left, const void* right) {
  const double difference = *(const double*)left - *(const double*)right;
  return (difference > 0) - (difference < 0);
}

static void measure(int log2, int turns, const MPI_Op* op) {
  int rank, ranks;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  const int count = 1 << log2;
  float* const in = malloc(sizeof(float) * (size_t)count);
  float* const out = rank == 0 ? malloc(sizeof(float) * (size_t)count) : NULL;
  if (!in || (rank == 0 && !out)) MPI_Abort(MPI_COMM_WORLD, 3);
  for (int i = 0; i < count; ++i) in[i] = (float)(i % 7);
  for (int i = 0; out && i < count; ++i) out[i] = 0;
  double times[ops][most_turns];
  for (int turn = -1; turn < turns; ++turn)
    for (int k = 0; k < ops; ++k) {
      const int which = (k + turn + ops) % ops;
      MPI_Barrier(MPI_COMM_WORLD);
      const double start = MPI_Wtime();
      MPI_Reduce(in, out, count, MPI_FLOAT, op[which], 0, MPI_COMM_WORLD);
      double mine = (MPI_Wtime() - start) * 1e9;
      MPI_Allreduce(&mine, &times[which][turn < 0 ? 0 : turn], 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
      for (int i = 0; out && i < count; i += 1013)
        if (out[i] != (float)(ranks * (i % 7))) MPI_Abort(MPI_COMM_WORLD, 4);
    }
  for (int k = 0; rank == 0 && k < ops; ++k) {
    qsort(times[k], (size_t)turns, sizeof(double), ascending);
    printf("%s %.0f %.0f %.0f\n", names[k], times[k][turns / 2], times[k][turns / 4], times[k][3 * turns / 4]);
  }
  free(in);
  free(out);
}

int main(int argc, char** argv) {
  int provided;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &provided);
  const int log2 = argc > 1 ? atoi(argv[1]) : 28, turns = argc > 2 ? atoi(argv[2]) : 5;
  if (turns < 1 || turns > most_turns || log2 < 1 || log2 > 30) MPI_Abort(MPI_COMM_WORLD, 2);
  MPI_Op op[ops] = {MPI_SUM};
  MPI_Op_create(vectorised, 1, &op[1]);
  MPI_Op_create(taskloop, 1, &op[2]);
  /* The other threads wait at the end of the region, where they take tasks. */
#pragma omp parallel
#pragma omp master
  measure(log2, turns, op);
  MPI_Op_free(&op[1]);
  MPI_Op_free(&op[2]);
  MPI_Finalize();
  return 0;
}
