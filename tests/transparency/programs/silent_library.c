/* A library that defines no symbol for others, and completes requests behind everybody's back, or could. */
#include <mpi.h>
#include <stdlib.h>

static __attribute__((constructor)) void start(void) {
  MPI_Request none = MPI_REQUEST_NULL;
  if (getenv("NOBODY_SETS_THIS")) PMPI_Wait(&none, MPI_STATUS_IGNORE);
}
