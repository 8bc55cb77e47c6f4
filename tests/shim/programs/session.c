/* The sessions model: no world, no MPI_Init. */
#include <mpi.h>
#include <stdio.h>

int main(void) {
  MPI_Session session;
  if (MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &session) != MPI_SUCCESS) return 2;
  MPI_Group group;
  MPI_Group_from_session_pset(session, "mpi://SELF", &group);
  int size;
  MPI_Group_size(group, &size);
  MPI_Group_free(&group);
  double in[64], inout[64];
  for (int i = 0; i < 64; ++i) in[i] = i, inout[i] = 1;
  MPI_Reduce_local(in, inout, 64, MPI_DOUBLE, MPI_PROD);
  printf("size %d product %g\n", size, inout[63]);
  return MPI_Session_finalize(&session) == MPI_SUCCESS ? 0 : 3;
}
