/* Arguments: how many communicators are made, used and freed one after the other, and how many live at once. Prints on
   rank 0: microseconds for each of the first kind, for each of the second, and the growth of memory in KiB after each.
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static long resident_kib(void) {
  char line[256];
  long kib = 0;
  FILE* file = fopen("/proc/self/status", "r");
  while (file && fgets(line, sizeof line, file))
    if (sscanf(line, "RssAnon: %ld", &kib) == 1) break;
  if (file) fclose(file);
  return kib;
}

static int rank, ranks, wrong = 0;

static void use(MPI_Comm comm, int turns) {
  for (int i = 0; i < turns; ++i) {
    int sum = 0, one = i + 1;
    MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, comm);
    wrong += sum != ranks * (i + 1);
  }
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  int passing = argc > 1 ? atoi(argv[1]) : 100, living = argc > 2 ? atoi(argv[2]) : 50;
  for (int i = 0; i < 200; ++i) {
    MPI_Comm comm;
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    use(comm, 12);
    MPI_Comm_free(&comm);
  }
  long before = resident_kib();
  double start = MPI_Wtime();
  for (int i = 0; i < passing; ++i) {
    MPI_Comm comm;
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    use(comm, 12);
    MPI_Comm_free(&comm);
  }
  double each_us = passing ? (MPI_Wtime() - start) * 1e6 / passing : 0;
  long passed = resident_kib() - before;
  MPI_Comm* comms = malloc((size_t)living * sizeof(MPI_Comm));
  start = MPI_Wtime();
  for (int i = 0; i < living; ++i) {
    MPI_Comm_dup(MPI_COMM_WORLD, &comms[i]);
    use(comms[i], 12);
  }
  double alive_us = living ? (MPI_Wtime() - start) * 1e6 / living : 0;
  long alive = resident_kib() - before;
  for (int turn = 0; turn < 3; ++turn)
    for (int i = 0; i < living; ++i) use(comms[i], 1);
  for (int i = 0; i < living; ++i) MPI_Comm_free(&comms[i]);
  free(comms);
  if (rank == 0)
    printf("each %.1f us, %ld KiB more; alive %.1f us, %ld KiB more; %d wrong\n", each_us, passed, alive_us, alive,
           wrong);
  MPI_Finalize();
  return wrong != 0;
}
