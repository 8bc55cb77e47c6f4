/* MPI_Reduce_local, ns a call by op, type and size, with whatever op component this process was given. Each figure is
   the median of 31 batches. Prints: kernel bytes ns */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct {
  const char* name;
  MPI_Op op;
  MPI_Datatype datatype;
  size_t element_bytes;
} reduction;

enum { batches = 31 };

static int ascending(const void* left, const void* right) {
  double difference = *(const double*)left - *(const double*)right;
  return difference < 0 ? -1 : difference > 0;
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  const reduction reductions[] = {
      {"sum_f64", MPI_SUM, MPI_DOUBLE, 8},
      {"sum_f32", MPI_SUM, MPI_FLOAT, 4},
      {"max_f32", MPI_MAX, MPI_FLOAT, 4},
      {"sum_i8", MPI_SUM, MPI_INT8_T, 1},
      {"prod_i32", MPI_PROD, MPI_INT, 4},
      {"band_u64", MPI_BAND, MPI_UINT64_T, 8},
      {"land_i32", MPI_LAND, MPI_INT, 4},
      {"prod_c64", MPI_PROD, MPI_C_DOUBLE_COMPLEX, 16},
      {"maxloc_f64_i32", MPI_MAXLOC, MPI_DOUBLE_INT, 16},
  };
  const size_t largest = (size_t)4 << 20;
  char* in = malloc(largest); /* as an allocator gives them: 16 bytes after a page */
  char* inout = malloc(largest);
  memset(in, 0, largest), memset(inout, 0, largest);
  for (size_t i = 0; i < sizeof reductions / sizeof *reductions; ++i)
    for (size_t bytes = 1024; bytes <= largest; bytes *= 16) {
      int count = (int)(bytes / reductions[i].element_bytes), calls = bytes < 65536 ? 2000 : bytes < 1048576 ? 60 : 3;
      double times[batches];
      for (int batch = -1; batch < batches; ++batch) {
        double start = MPI_Wtime();
        for (int k = 0; k < calls; ++k) MPI_Reduce_local(in, inout, count, reductions[i].datatype, reductions[i].op);
        if (batch >= 0) times[batch] = (MPI_Wtime() - start) * 1e9 / calls;
      }
      qsort(times, batches, sizeof *times, ascending);
      printf("%s %zu %.1f\n", reductions[i].name, bytes, times[batches / 2]);
    }
  MPI_Finalize();
  return 0;
}
