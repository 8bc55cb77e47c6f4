/* Allreduce as the program calls it, under Millrace (MPI_), and the host's own (PMPI_), in turns within one process.
   Both go to the host's algorithms; MPI_ may take an op of ours, as MILLRACE_SUBSTITUTE and the table of src/plan say.
   Prints one line per kernel and size: class.kernel bytes turns host_ns ours_ns ratio low high, the last three the
   median and the quartiles of host / ours by turn. Points below 1.03 are measured again with three times the turns, and
   only that counts. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

typedef struct {
  const char* name; /* class.op_type */
  MPI_Op op;
  MPI_Datatype datatype;
  size_t element_bytes;
} reduction;

enum { most_turns = 99 };
typedef int (*allreduce)(const void*, void*, int, MPI_Datatype, MPI_Op, MPI_Comm);
typedef struct {
  double host_ns, ours_ns, ratio, low, high;
} answer;

static int ascending(const void* left, const void* right) {
  double difference = *(const double*)left - *(const double*)right;
  return difference < 0 ? -1 : difference > 0;
}
static void sort(double* values, int count) { qsort(values, (size_t)count, sizeof *values, ascending); }

/* The slower rank's time of a call. */
static double time_ns(allreduce function, const reduction* what, const void* in, void* out, int count, int calls) {
  PMPI_Barrier(MPI_COMM_WORLD);
  double start = PMPI_Wtime();
  for (int i = 0; i < calls; ++i) function(in, out, count, what->datatype, what->op, MPI_COMM_WORLD);
  double mine = (PMPI_Wtime() - start) * 1e9 / calls, slowest;
  PMPI_Allreduce(&mine, &slowest, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
  return slowest;
}

static answer contest(const reduction* what, const void* in, void* out, int count, int turns) {
  time_ns(MPI_Allreduce, what, in, out, count, 2);
  double estimate = time_ns(PMPI_Allreduce, what, in, out, count, 3);
  int calls = estimate > 0 ? (int)(3e6 / estimate) : 1; /* about 3 ms a turn */
  calls = calls < 1 ? 1 : calls > 400 ? 400 : calls;
  double host[most_turns], ours[most_turns], ratio[most_turns];
  for (int turn = 0; turn < turns; ++turn) {
    int host_first = turn % 2; /* whoever comes first finds other caches */
    if (host_first) host[turn] = time_ns(PMPI_Allreduce, what, in, out, count, calls);
    ours[turn] = time_ns(MPI_Allreduce, what, in, out, count, calls);
    if (!host_first) host[turn] = time_ns(PMPI_Allreduce, what, in, out, count, calls);
    ratio[turn] = host[turn] / ours[turn];
  }
  sort(host, turns), sort(ours, turns), sort(ratio, turns);
  return (answer){host[turns / 2], ours[turns / 2], ratio[turns / 2], ratio[turns / 4], ratio[3 * turns / 4]};
}

static void measure(const reduction* what, size_t bytes, int turns, int rank) {
  int count = (int)(bytes / what->element_bytes);
  char* in = malloc(bytes);
  char* out = malloc(bytes);
  for (size_t i = 0; i < bytes; ++i) in[i] = (char)(i % 3 == 0), out[i] = 0;
  answer found = contest(what, in, out, count, turns);
  if (found.ratio < 1.03) {
    turns = 3 * turns;
    found = contest(what, in, out, count, turns);
  }
  if (rank == 0) {
    printf("%s %zu %d %.0f %.0f %.3f %.3f %.3f\n", what->name, bytes, turns, found.host_ns, found.ours_ns, found.ratio,
           found.low, found.high);
    fflush(stdout);
  }
  free(in), free(out);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank, turns = argc > 1 ? atoi(argv[1]) : 15;
  if (turns < 1 || 3 * turns > most_turns) turns = 15;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  const reduction reductions[] = {
      {"real_arithmetic.sum_f32", MPI_SUM, MPI_FLOAT, 4},
      {"real_arithmetic.prod_f64", MPI_PROD, MPI_DOUBLE, 8},
      {"real_extremum.max_f32", MPI_MAX, MPI_FLOAT, 4},
      {"integer_arithmetic.sum_i32", MPI_SUM, MPI_INT, 4},
      {"integer_arithmetic.sum_i64", MPI_SUM, MPI_LONG, 8},
      {"bitwise.band_u64", MPI_BAND, MPI_UNSIGNED_LONG, 8},
      {"logical.land_i32", MPI_LAND, MPI_INT, 4},
      {"logical.land_bool8", MPI_LAND, MPI_C_BOOL, 1},
      {"complex_sum.sum_c32", MPI_SUM, MPI_C_FLOAT_COMPLEX, 8},
      {"complex_product.prod_c64", MPI_PROD, MPI_C_DOUBLE_COMPLEX, 16},
      {"location.minloc_f64_i32", MPI_MINLOC, MPI_DOUBLE_INT, 16},
  };
  for (size_t i = 0; i < sizeof reductions / sizeof *reductions; ++i)
    for (size_t bytes = 4096; bytes <= (size_t)16 << 20; bytes *= 8) /* 4 KiB, 32 KiB, 256 KiB, 2 MiB, 16 MiB */
      measure(&reductions[i], bytes, bytes > (size_t)4 << 20 && turns > 7 ? 7 : turns, rank);
  MPI_Finalize();
  return 0;
}
