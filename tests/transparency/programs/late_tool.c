/* Loads a library that calls PMPI_Wait after MPI_Init, and completes requests through it. */
#include <dlfcn.h>
#include <mpi.h>
#include <stdio.h>

enum { BLOCKS = 600, INTS = 3 * BLOCKS };

int main(int argc, char** argv) {
  int rank, out[INTS], in[INTS], missing = 0;
  MPI_Request request;
  MPI_Datatype type;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  void* tool = dlopen(argv[1], RTLD_NOW);
  int (*wait)(MPI_Request*, MPI_Status*) = tool ? (int (*)(MPI_Request*, MPI_Status*))dlsym(tool, "MPI_Wait") : NULL;
  if (!wait) {
    printf("no tool\n");
    MPI_Abort(MPI_COMM_WORLD, 1);
  }
  MPI_Type_vector(BLOCKS, 2, 3, MPI_INT, &type);
  MPI_Type_commit(&type);
  for (int i = 0; i < INTS; ++i) out[i] = rank * INTS + i;
  for (int message = 0; message < 20; ++message) {
    for (int i = 0; i < INTS; ++i) in[i] = -1;
    MPI_Irecv(in, 1, type, 1 - rank, 1, MPI_COMM_WORLD, &request);
    MPI_Send(out, 1, type, 1 - rank, 1, MPI_COMM_WORLD);
    wait(&request, MPI_STATUS_IGNORE);
    for (int i = 0; i < INTS; ++i)
      if (in[i] != (i % 3 < 2 ? (1 - rank) * INTS + i : -1)) {
        ++missing;
        break;
      }
  }
  printf("rank %d, missing: %d\n", rank, missing);
  MPI_Type_free(&type);
  MPI_Finalize();
  return 0;
}
