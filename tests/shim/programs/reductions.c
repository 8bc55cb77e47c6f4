/* Every collective reduction, in every form that this MPI has, on small integers whose result is exact in any order;
   prints one line per form and class of op. */
#include <complex.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { elements = 3000 };
static int rank, ranks, failed = 0;

typedef struct {
  double value;
  int index;
} pair;

static void expect(const char* what, int right) {
  if (!right && !failed) printf("rank %d: %s is wrong\n", rank, what);
  if (!right) failed = 1;
}

static int value_of(int of_rank, int i) { return (i * 7 + of_rank * 3) % 5 + 1; }

/* The left fold over ranks first..last of element i. */
static int folded(MPI_Op op, int first, int last, int i) {
  int result = value_of(first, i);
  for (int r = first + 1; r <= last; ++r) {
    int next = value_of(r, i);
    if (op == MPI_SUM) result += next;
    if (op == MPI_PROD) result *= next;
    if (op == MPI_MAX) result = next > result ? next : result;
    if (op == MPI_BXOR) result ^= next;
    if (op == MPI_LAND) result = result && next;
  }
  return result;
}

static void integers(const char* name, MPI_Op op) {
  int* in = malloc(elements * sizeof(int));
  int* out = malloc(elements * sizeof(int));
  int* counts = malloc((size_t)ranks * sizeof(int));
  MPI_Request request;
  int root = ranks - 1, chunk = elements / ranks;
  for (int i = 0; i < elements; ++i) in[i] = value_of(rank, i);
  for (int r = 0; r < ranks; ++r) counts[r] = chunk;

  MPI_Allreduce(in, out, elements, MPI_INT, op, MPI_COMM_WORLD);
  for (int i = 0; i < elements; ++i) expect("Allreduce", out[i] == folded(op, 0, ranks - 1, i));
  memcpy(out, in, elements * sizeof(int));
  MPI_Allreduce(MPI_IN_PLACE, out, elements, MPI_INT, op, MPI_COMM_WORLD);
  for (int i = 0; i < elements; ++i) expect("Allreduce in place", out[i] == folded(op, 0, ranks - 1, i));
  MPI_Reduce(in, out, elements, MPI_INT, op, root, MPI_COMM_WORLD);
  for (int i = 0; i < elements && rank == root; ++i) expect("Reduce", out[i] == folded(op, 0, ranks - 1, i));
  MPI_Reduce_scatter_block(in, out, chunk, MPI_INT, op, MPI_COMM_WORLD);
  for (int i = 0; i < chunk; ++i) expect("Reduce_scatter_block", out[i] == folded(op, 0, ranks - 1, rank * chunk + i));
  MPI_Reduce_scatter(in, out, counts, MPI_INT, op, MPI_COMM_WORLD);
  for (int i = 0; i < chunk; ++i) expect("Reduce_scatter", out[i] == folded(op, 0, ranks - 1, rank * chunk + i));
  MPI_Scan(in, out, elements, MPI_INT, op, MPI_COMM_WORLD);
  for (int i = 0; i < elements; ++i) expect("Scan", out[i] == folded(op, 0, rank, i));
  MPI_Exscan(in, out, elements, MPI_INT, op, MPI_COMM_WORLD);
  for (int i = 0; i < elements && rank > 0; ++i) expect("Exscan", out[i] == folded(op, 0, rank - 1, i));
  MPI_Iallreduce(in, out, elements, MPI_INT, op, MPI_COMM_WORLD, &request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  for (int i = 0; i < elements; ++i) expect("Iallreduce", out[i] == folded(op, 0, ranks - 1, i));
  MPI_Ireduce(in, out, elements, MPI_INT, op, 0, MPI_COMM_WORLD, &request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  for (int i = 0; i < elements && rank == 0; ++i) expect("Ireduce", out[i] == folded(op, 0, ranks - 1, i));
#if MPI_VERSION >= 4 || defined(OMPI_MAJOR_VERSION) && OMPI_MAJOR_VERSION >= 5
  MPI_Allreduce_init(in, out, elements, MPI_INT, op, MPI_COMM_WORLD, MPI_INFO_NULL, &request);
  for (int turn = 0; turn < 2; ++turn) {
    memset(out, 0, elements * sizeof(int));
    MPI_Start(&request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    for (int i = 0; i < elements; ++i) expect("Allreduce_init", out[i] == folded(op, 0, ranks - 1, i));
  }
  MPI_Request_free(&request);
#endif
  if (rank == 0) printf("%s done\n", name);
  free(in), free(out), free(counts);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  integers("SUM", MPI_SUM);
  integers("PROD", MPI_PROD);
  integers("MAX", MPI_MAX);
  integers("BXOR", MPI_BXOR);
  integers("LAND", MPI_LAND);

  static double complex c[elements], product[elements];
  static pair p[elements], most[elements];
  for (int i = 0; i < elements; ++i) {
    c[i] = 1 + (i % 3) * I;
    p[i].value = (i * 5 + rank * 7) % 11;
    p[i].index = rank;
  }
  MPI_Allreduce(c, product, elements, MPI_C_DOUBLE_COMPLEX, MPI_PROD, MPI_COMM_WORLD);
  MPI_Allreduce(p, most, elements, MPI_DOUBLE_INT, MPI_MAXLOC, MPI_COMM_WORLD);
  for (int i = 0; i < elements; ++i) {
    double complex expected = 1;
    pair best = {-1, -1};
    for (int r = 0; r < ranks; ++r) {
      expected *= 1 + (i % 3) * I;
      double value = (i * 5 + r * 7) % 11;
      if (value > best.value) best.value = value, best.index = r;
    }
    expect("complex product", product[i] == expected);
    expect("MAXLOC", most[i].value == best.value && most[i].index == best.index);
  }
  if (rank == 0) printf("complex and location done\n");
  /* What the host refuses stays refused, by the host. */
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  int error_class = 0;
  MPI_Error_class(MPI_Allreduce(c, product, 4, MPI_DOUBLE, MPI_BAND, MPI_COMM_WORLD), &error_class);
  if (rank == 0) printf("BAND of doubles: %s\n", error_class ? "an error" : "accepted");
  MPI_Finalize();
  return failed;
}
