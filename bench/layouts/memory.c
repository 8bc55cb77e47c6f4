/* How much more memory a process holds, at most, while one message of every second double goes from rank 0 to rank 1:
   peak resident bytes (VmHWM) less those before, of each rank, shared memory included. Repeated, because a datatype is
   compiled at its second use. One line: MIB TIME_MS EXTRA_OF_SENDER_MIB EXTRA_OF_RECEIVER_MIB (medians are not needed:
   the peak is of all messages). Argument: MiB of packed bytes. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static long status_kib(const char* name) {
  char line[256];
  long kib = -1;
  FILE* const file = fopen("/proc/self/status", "r");
  while (file && fgets(line, sizeof line, file))
    if (!strncmp(line, name, strlen(name))) kib = atol(line + strlen(name) + 1);
  if (file) fclose(file);
  return kib;
}

int main(int argc, char** argv) {
  enum { MESSAGES = 3 };
  int rank, wrong = 0;
  double best = 1e9;
  MPI_Datatype type;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  const long mib = argc > 1 ? atol(argv[1]) : 64, doubles = mib << 17;
  double* const data = malloc(sizeof(double) * 2 * (size_t)doubles);
  for (long i = 0; i < 2 * doubles; ++i) data[i] = rank ? -1.0 : (double)i;
  MPI_Type_vector((int)doubles, 1, 2, MPI_DOUBLE, &type);
  MPI_Type_commit(&type);
  MPI_Barrier(MPI_COMM_WORLD);
  const long before = status_kib("VmRSS");
  for (int i = 0; i < MESSAGES; ++i) {
    MPI_Barrier(MPI_COMM_WORLD);
    const double start = MPI_Wtime();
    if (rank == 0)
      MPI_Send(data, 1, type, 1, 0, MPI_COMM_WORLD);
    else
      MPI_Recv(data, 1, type, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Barrier(MPI_COMM_WORLD);
    if (MPI_Wtime() - start < best) best = MPI_Wtime() - start;
  }
  for (long i = 0; rank == 1 && i < 2 * doubles; ++i) wrong |= data[i] != (i % 2 ? -1.0 : (double)i);
  long extra = status_kib("VmHWM") - before, of_receiver = 0;
  if (rank == 1) MPI_Send(&extra, 1, MPI_LONG, 0, 1, MPI_COMM_WORLD);
  if (rank == 0) {
    MPI_Recv(&of_receiver, 1, MPI_LONG, 1, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    printf("%ld %.1f %.1f %.1f\n", mib, best * 1e3, (double)extra / 1024, (double)of_receiver / 1024);
  }
  if (wrong) printf("wrong data\n");
  MPI_Type_free(&type);
  free(data);
  MPI_Finalize();
  return wrong;
}
