/* Looks into the predefined ops: for each op and type index for which Open MPI has a function of its own, prints
       OP INDEX OBJECT-OF-THE-TWO-BUFFER-FUNCTION OBJECT-OF-THE-THREE-BUFFER-FUNCTION FUNCTION-ADDRESS
   and at the end the indices that must stay empty and are not. */
#define _GNU_SOURCE
#include "ompi_config.h"

#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

#include "ompi/mca/op/base/functions.h"
#include "ompi/op/op.h"

static const char* object_of(const void* function) {
  Dl_info info;
  if (!function || !dladdr(function, &info)) return "none";
  const char* slash = strrchr(info.dli_fname, '/');
  return slash ? slash + 1 : info.dli_fname;
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  ompi_op_t* const ops[] = {MPI_SUM,  MPI_PROD, MPI_MAX,  MPI_MIN,    MPI_LAND,   MPI_LOR,    MPI_LXOR,
                            MPI_BAND, MPI_BOR,  MPI_BXOR, MPI_MAXLOC, MPI_MINLOC, MPI_REPLACE};
  for (unsigned i = 0; i < sizeof ops / sizeof *ops; ++i) {
    for (int type = 0; type < OMPI_OP_BASE_TYPE_MAX; ++type) {
      const void* two = ops[i]->o_func.intrinsic.fns[type];
      const void* three = ops[i]->o_3buff_intrinsic.fns[type];
      if (ompi_op_base_functions[ops[i]->o_f_to_c_index][type])
        printf("%s %d %s %s %p\n", ops[i]->o_name, type, object_of(two), object_of(three), two);
      else if (two || three)
        printf("%s %d must-be-empty %s %s\n", ops[i]->o_name, type, object_of(two), object_of(three));
    }
  }
  MPI_Finalize();
}
