/* The three-buffer form, which only some algorithms of the host use, and no MPI call does by itself. */
#define _GNU_SOURCE
#include "ompi_config.h"

#include "ompi/op/op.h"

void reduce_three(MPI_Op op, void* a, void* b, void* out, int count, MPI_Datatype type);

void reduce_three(MPI_Op op, void* a, void* b, void* out, int count, MPI_Datatype type) {
  ompi_3buff_op_reduce(op, a, b, out, count, type);
}
