/* So many duplicates of the world as the first argument says are alive at once, each used for so many calls as the
   second says; with a third argument "large", for one of 256 KiB as well. Prints "done", and to standard error the MiB
   that the ranks hold together (shared pages once). */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static double proportional_mib(void) {
  FILE* file = fopen("/proc/self/smaps_rollup", "r");
  char line[256];
  double kib = 0;
  while (file && fgets(line, sizeof line, file))
    if (strncmp(line, "Pss:", 4) == 0) kib = atof(line + 4);
  if (file) fclose(file);
  return kib / 1024;
}

int main(int argc, char** argv) {
  int rank, ranks, wrong = 0;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  const int count = atoi(argv[1]), calls = atoi(argv[2]);
  MPI_Comm* comms = malloc(sizeof *comms * (size_t)count);
  double before = proportional_mib(), own_mib, all_mib = 0;
  for (int each = 0; each < count; ++each) {
    MPI_Comm_dup(MPI_COMM_WORLD, &comms[each]);
    for (int call = 0; call < calls; ++call) {
      int own = call + rank, sum = 0;
      MPI_Allreduce(&own, &sum, 1, MPI_INT, MPI_SUM, comms[each]);
      wrong += sum != ranks * call + ranks * (ranks - 1) / 2;
    }
  }
  static double data[1 << 15], result[1 << 15];
  const int large = argc > 3 && strcmp(argv[3], "large") == 0;
  for (int each = 0; large && each < count; ++each)
    MPI_Allreduce(data, result, 1 << 15, MPI_DOUBLE, MPI_SUM, comms[each]);
  own_mib = proportional_mib() - before;
  MPI_Reduce(&own_mib, &all_mib, 1, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
  if (rank == 0) fprintf(stderr, "MiB: %.1f\n", all_mib);
  MPI_Barrier(MPI_COMM_WORLD);
  for (int each = 0; each < count; ++each) MPI_Comm_free(&comms[each]);
  free(comms);
  if (wrong) printf("%d wrong on rank %d\n", wrong, rank);
  if (rank == 0) printf("done\n");
  MPI_Finalize();
  return wrong != 0;
}
