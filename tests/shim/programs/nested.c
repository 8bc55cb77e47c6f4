/* A user-defined op and an attribute callback that call MPI: calls inside a call belong to the outer one. */
#include <mpi.h>
#include <stdio.h>

static void add(void* in, void* inout, int* length, MPI_Datatype* type) {
  int size;
  MPI_Type_size(*type, &size);
  for (int i = 0; i < *length; ++i) ((int*)inout)[i] += ((int*)in)[i];
}

static int forget(MPI_Comm comm, int keyval, void* value, void* extra) {
  int rank;
  (void)keyval, (void)extra;
  MPI_Comm_rank(comm, &rank);
  *(int*)value = rank;
  return MPI_SUCCESS;
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Op op;
  MPI_Op_create(add, 1, &op);
  int in[4] = {1, 2, 3, 4}, out[4] = {1, 1, 1, 1}, value = -1, keyval;
  MPI_Reduce_local(in, out, 4, MPI_INT, op);
  MPI_Op_free(&op);
  MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, forget, &keyval, NULL);
  MPI_Comm comm;
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  MPI_Comm_set_attr(comm, keyval, &value);
  MPI_Comm_free(&comm);
  printf("out %d value %s\n", out[3], value >= 0 ? "set" : "unset");
  MPI_Finalize();
  return 0;
}
