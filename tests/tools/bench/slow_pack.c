/* Makes MPI_Pack slow, and PMPI_Pack not. A call that waits for nobody: what others are late counts for no side. */
#include <mpi.h>
#include <time.h>

int MPI_Pack(const void* in, int count, MPI_Datatype type, void* out, int room, int* position, MPI_Comm comm) {
  const struct timespec pause = {0, 1000000};
  nanosleep(&pause, NULL);
  return PMPI_Pack(in, count, type, out, room, position, comm);
}
