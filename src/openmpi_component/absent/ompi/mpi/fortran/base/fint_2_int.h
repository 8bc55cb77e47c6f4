/* Open MPI's ompi/op/op.h includes this header, which its packages do not install. It is found only where the host has
   none. What needs it there is never called by us: the call of a user-defined Fortran op. */
#pragma once

#define OMPI_INT_2_FINT(value) (value)
#define OMPI_FINT_2_INT(value) (value)
