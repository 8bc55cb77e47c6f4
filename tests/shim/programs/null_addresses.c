/* What is freed through an address that is none: the host's error, not a crash of ours. Prints the three classes. */
#include <mpi.h>
#include <stdio.h>

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
  const int errors[] = {MPI_Request_free(NULL), MPI_Win_free(NULL), MPI_Op_free(NULL)};
  for (int i = 0; i < 3; ++i) {
    int error_class = 0;
    MPI_Error_class(errors[i], &error_class);
    printf("%d\n", error_class);
  }
  MPI_Finalize();
  return 0;
}
