/* Allreduce with a predefined op and with an op whose function is a kernel of libmillrace, in turns within one process.
   Prints one line per class and size: class bytes host_ns ours_ns ratio low high (quartiles of host / ours by turn). */
#include <millrace/millrace.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct {
  const char* name; /* class.op_type */
  MPI_Op op;
  MPI_Datatype datatype;
  millrace_op kernel_op;
  millrace_type kernel_type;
} reduction;

enum { most_turns = 41 };
static millrace_op current_op;
static millrace_type current_type;

static void reduce_with_kernel(void* in, void* inout, int* length, MPI_Datatype* datatype) {
  (void)datatype;
  millrace_reduce(current_op, current_type, in, inout, (size_t)*length);
}

static int ascending(const void* left, const void* right) {
  double difference = *(const double*)left - *(const double*)right;
  return difference < 0 ? -1 : difference > 0;
}

static double time_ns(MPI_Op op, MPI_Datatype datatype, const void* in, void* out, int count, int calls) {
  MPI_Barrier(MPI_COMM_WORLD);
  double start = MPI_Wtime();
  for (int i = 0; i < calls; ++i) MPI_Allreduce(in, out, count, datatype, op, MPI_COMM_WORLD);
  double mine = (MPI_Wtime() - start) * 1e9 / calls, slowest;
  MPI_Allreduce(&mine, &slowest, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
  return slowest;
}

static void measure(const reduction* what, MPI_Op ours, size_t bytes, int turns, int rank) {
  int count = (int)(bytes / millrace_type_bytes(what->kernel_type));
  char* in = malloc(bytes);
  char* out = malloc(bytes);
  for (size_t i = 0; i < bytes; ++i) in[i] = (char)(i % 3 == 0), out[i] = 0;
  current_op = what->kernel_op, current_type = what->kernel_type;
  double estimate = time_ns(what->op, what->datatype, in, out, count, 3);
  int calls = estimate > 0 ? (int)(4e6 / estimate) : 1; /* about 4 ms a turn */
  calls = calls < 1 ? 1 : calls > 400 ? 400 : calls;
  MPI_Bcast(&calls, 1, MPI_INT, 0, MPI_COMM_WORLD);
  double host[most_turns], kernel[most_turns], ratio[most_turns];
  for (int turn = 0; turn < turns; ++turn) {
    int host_first = turn % 2; /* whoever comes first finds other caches */
    if (host_first) host[turn] = time_ns(what->op, what->datatype, in, out, count, calls);
    kernel[turn] = time_ns(ours, what->datatype, in, out, count, calls);
    if (!host_first) host[turn] = time_ns(what->op, what->datatype, in, out, count, calls);
    ratio[turn] = host[turn] / kernel[turn];
  }
  qsort(host, (size_t)turns, sizeof *host, ascending);
  qsort(kernel, (size_t)turns, sizeof *kernel, ascending);
  qsort(ratio, (size_t)turns, sizeof *ratio, ascending);
  if (rank == 0) {
    printf("%s %zu %.0f %.0f %.3f %.3f %.3f\n", what->name, bytes, host[turns / 2], kernel[turns / 2], ratio[turns / 2],
           ratio[turns / 4], ratio[3 * turns / 4]);
    fflush(stdout);
  }
  free(in), free(out);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank, turns = argc > 1 ? atoi(argv[1]) : 15;
  if (turns < 1 || turns > most_turns) turns = 15;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Op ours;
  MPI_Op_create(reduce_with_kernel, 1, &ours);
  const reduction reductions[] = {
      {"real_arithmetic.sum_f32", MPI_SUM, MPI_FLOAT, MILLRACE_SUM, MILLRACE_F32},
      {"real_arithmetic.prod_f64", MPI_PROD, MPI_DOUBLE, MILLRACE_PROD, MILLRACE_F64},
      {"real_extremum.max_f32", MPI_MAX, MPI_FLOAT, MILLRACE_MAX, MILLRACE_F32},
      {"integer_arithmetic.sum_i32", MPI_SUM, MPI_INT, MILLRACE_SUM, MILLRACE_I32},
      {"integer_arithmetic.sum_i64", MPI_SUM, MPI_LONG, MILLRACE_SUM, MILLRACE_I64},
      {"bitwise.band_u64", MPI_BAND, MPI_UNSIGNED_LONG, MILLRACE_BAND, MILLRACE_U64},
      {"logical.land_i32", MPI_LAND, MPI_INT, MILLRACE_LAND, MILLRACE_I32},
      {"logical.land_bool8", MPI_LAND, MPI_C_BOOL, MILLRACE_LAND, MILLRACE_BOOL8},
      {"complex_sum.sum_c32", MPI_SUM, MPI_C_FLOAT_COMPLEX, MILLRACE_SUM, MILLRACE_C32},
      {"complex_product.prod_c64", MPI_PROD, MPI_C_DOUBLE_COMPLEX, MILLRACE_PROD, MILLRACE_C64},
      {"location.maxloc_f64_i32", MPI_MAXLOC, MPI_DOUBLE_INT, MILLRACE_MAXLOC, MILLRACE_F64_I32},
  };
  for (size_t i = 0; i < sizeof reductions / sizeof *reductions; ++i)
    for (size_t bytes = 4096; bytes <= (size_t)16 << 20; bytes *= 8) /* 4 KiB, 32 KiB, 256 KiB, 2 MiB, 16 MiB */
      measure(&reductions[i], ours, bytes, bytes > (size_t)4 << 20 && turns > 7 ? 7 : turns, rank);
  MPI_Op_free(&ours);
  MPI_Finalize();
  return 0;
}
