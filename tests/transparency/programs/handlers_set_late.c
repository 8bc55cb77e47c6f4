/* Whose error handler is asked, when duplicates were made before the program set handlers. On MPICH's family every
   error here returns, without Millrace; on Open MPI the duplicates' end the program. */
#include <mpi.h>
#include <stdio.h>
#include <string.h>

static const char* name_of(MPI_Comm comm) {
  MPI_Errhandler handler;
  const char* name = "another";
  MPI_Comm_get_errhandler(comm, &handler);
  if (handler == MPI_ERRORS_ARE_FATAL) name = "fatal";
  if (handler == MPI_ERRORS_RETURN) name = "return";
  return name;
}

static void show(const char* what, int error) {
  int class = 0;
  MPI_Error_class(error, &class);
  printf("%s: %s\n", what, error == MPI_SUCCESS ? "success" : class == MPI_ERR_RANK ? "rank" : "another error");
  fflush(stdout);
}

int main(int argc, char** argv) {
  int size;
  MPI_Comm before, self;
  MPI_Init(&argc, &argv);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  printf("world %s, self %s\n", name_of(MPI_COMM_WORLD), name_of(MPI_COMM_SELF));
  MPI_Comm_dup(MPI_COMM_WORLD, &before);
  MPI_Comm_dup(MPI_COMM_SELF, &self);
  printf("duplicates: %s %s\n", name_of(before), name_of(self));
  fflush(stdout);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  if (argc > 1 && !strcmp(argv[1], "self")) MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
  printf("now %s %s %s %s\n", name_of(MPI_COMM_WORLD), name_of(MPI_COMM_SELF), name_of(before), name_of(self));
  fflush(stdout);
  show("world", MPI_Send(&size, 1, MPI_INT, size + 5, 0, MPI_COMM_WORLD));
  show("duplicate of the world", MPI_Send(&size, 1, MPI_INT, size + 5, 0, before));
  show("duplicate of self", MPI_Send(&size, 1, MPI_INT, 5, 0, self));
  MPI_Comm_free(&before);
  MPI_Comm_free(&self);
  MPI_Finalize();
  return 0;
}
