/* Allreduce of so many bytes, so many times. Arguments: bytes, calls, and how: nothing, "begun" or "prepared". */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  const int doubles = atoi(argv[1]) / 8, calls = atoi(argv[2]);
  const char* const how = argc > 3 ? argv[3] : "";
  double* const in = calloc((size_t)doubles, sizeof *in);
  double* const out = calloc((size_t)doubles, sizeof *out);
  MPI_Request request = MPI_REQUEST_NULL;
#if MPI_VERSION >= 4
  if (!strcmp(how, "prepared"))
    MPI_Allreduce_init(in, out, doubles, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD, MPI_INFO_NULL, &request);
#endif
  for (int i = 0; i < calls; ++i) {
    if (!strcmp(how, "prepared"))
      MPI_Start(&request);
    else if (!strcmp(how, "begun"))
      MPI_Iallreduce(in, out, doubles, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD, &request);
    else
      MPI_Allreduce(in, out, doubles, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
  }
  if (request != MPI_REQUEST_NULL) MPI_Request_free(&request);
  free(in);
  free(out);
  MPI_Finalize();
  return 0;
}
