/* Calls of MPI_Reduce_local that Millrace must leave to the host, and that every host survives. */
#include <mpi.h>

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
  int in[8] = {0}, inout[8] = {0};
  float floats[8] = {0}, more_floats[8] = {0};
  MPI_Reduce_local(in, inout, 8, MPI_INT, MPI_SUM);
  MPI_Reduce_local(in, inout, 0, MPI_INT, MPI_SUM);
  MPI_Reduce_local(floats, more_floats, 8, MPI_FLOAT, MPI_BAND);
  MPI_Reduce_local(in, inout, 8, MPI_INT, MPI_REPLACE);
  MPI_Reduce_local(in, in, 8, MPI_INT, MPI_SUM);
  long double wide[4] = {0}, wider[4] = {0};
  MPI_Reduce_local(wide, wider, 4, MPI_LONG_DOUBLE, MPI_SUM);
  MPI_Finalize();
  return 0;
}
