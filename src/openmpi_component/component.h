/* Between component.c, which is C because Open MPI's ompi/op/op.h does not compile as C++, and the kernels. */
#pragma once

#include "ompi_config.h"

#include "ompi/mca/op/op.h"

#ifdef __cplusplus
extern "C" {
#endif

/* A level of vector instructions as op_millrace_support names it. */
struct millrace_level {
  int flag;
  const char* name; /* null ends the list */
};
extern const struct millrace_level millrace_levels[];

/* The levels for which this processor, operating system and build have kernels. */
int millrace_levels_available(void);

/* Makes every handler use the widest kernels that the mask of levels and MILLRACE_ISA allow. Returns the name of their
   instruction set. To be called before the first handler is. */
const char* millrace_use_levels(int mask);

/* Puts our handlers for an op (OMPI_OP_BASE_FORTRAN_*) into a module: for every type where both Open MPI and we have a
   function; null for all others. Returns the number of types. */
int millrace_offer(int fortran_op, struct ompi_op_base_module_1_0_0_t* module);

#ifdef __cplusplus
}
#endif
