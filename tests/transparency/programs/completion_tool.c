/* A tool linked into the program, or loaded before or behind Millrace, that wraps nothing but calls that complete
   requests. WAY: 1 by PMPI, 2 by the next definition of the same name. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <mpi.h>

#ifndef WAY
#define WAY 1
#endif

long tool_calls = 0;

#if WAY == 1
int MPI_Wait(MPI_Request* request, MPI_Status* status) {
  ++tool_calls;
  return PMPI_Wait(request, status);
}
int MPI_Waitall(int count, MPI_Request requests[], MPI_Status statuses[]) {
  ++tool_calls;
  return PMPI_Waitall(count, requests, statuses);
}
#else
int MPI_Wait(MPI_Request* request, MPI_Status* status) {
  int (*next)(MPI_Request*, MPI_Status*) = (int (*)(MPI_Request*, MPI_Status*))dlsym(RTLD_NEXT, "MPI_Wait");
  ++tool_calls;
  return next(request, status);
}
int MPI_Waitall(int count, MPI_Request requests[], MPI_Status statuses[]) {
  int (*next)(int, MPI_Request*, MPI_Status*) =
      (int (*)(int, MPI_Request*, MPI_Status*))dlsym(RTLD_NEXT, "MPI_Waitall");
  ++tool_calls;
  return next(count, requests, statuses);
}
#endif
