/* Error classes of bad arguments to every accelerated call, one line each; run with and without Millrace. */
#include <mpi.h>
#include <stdio.h>

static void say(const char* what, int error) {
  int error_class = 0;
  MPI_Error_class(error, &error_class);
  printf("%s: %d\n", what, error_class);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
  int in[8] = {1, 2, 3, 4, 5, 6, 7, 8}, inout[8] = {8, 7, 6, 5, 4, 3, 2, 1};
  float floats[8] = {0}, more_floats[8] = {0};
  MPI_Datatype pair;
  MPI_Type_contiguous(2, MPI_INT, &pair); /* derived, not committed */
  say("fine", MPI_Reduce_local(in, inout, 8, MPI_INT, MPI_SUM));
  say("zero count", MPI_Reduce_local(in, inout, 0, MPI_INT, MPI_SUM));
  say("zero count, null buffers", MPI_Reduce_local(NULL, NULL, 0, MPI_INT, MPI_SUM));
  say("negative count", MPI_Reduce_local(in, inout, -1, MPI_INT, MPI_SUM));
  say("null type", MPI_Reduce_local(in, inout, 8, MPI_DATATYPE_NULL, MPI_SUM));
  say("null op", MPI_Reduce_local(in, inout, 8, MPI_INT, MPI_OP_NULL));
  say("derived type", MPI_Reduce_local(in, inout, 4, pair, MPI_SUM));
  say("BAND of float", MPI_Reduce_local(floats, more_floats, 8, MPI_FLOAT, MPI_BAND));
  say("MAXLOC of int", MPI_Reduce_local(in, inout, 8, MPI_INT, MPI_MAXLOC));
#ifndef SKIP_NULL_BUFFERS /* Open MPI does not look at the buffers of this call and crashes by itself */
  say("null in", MPI_Reduce_local(NULL, inout, 8, MPI_INT, MPI_SUM));
  say("null inout", MPI_Reduce_local(in, NULL, 8, MPI_INT, MPI_SUM));
  say("in place", MPI_Reduce_local(MPI_IN_PLACE, inout, 8, MPI_INT, MPI_SUM));
#endif
  say("same buffer", MPI_Reduce_local(in, in, 8, MPI_INT, MPI_SUM));
  MPI_Type_free(&pair);
  for (int i = 0; i < 8; ++i) printf("%d %d\n", in[i], inout[i]);
  MPI_Finalize();
  return 0;
}
