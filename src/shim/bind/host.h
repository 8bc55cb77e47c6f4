// The host MPI of this process: the libmpi that the program uses, found and never brought along.
//
// A symbol of ours is forwarded to the *next* definition of the same name, so a profiling tool loaded after us still
// sees its calls. A libmpi that came late and with local scope (a Python extension module's) has no next definition
// in the global scope; then the process is searched for the object that defines the name.
#pragma once

#include <cstddef>

namespace millrace::shim {

// The next definition of a function, or nullptr. Takes a few microseconds: the result is kept by the caller.
// Thread-safe.
void* find_next_function(const char* name);

// The address of a data object of the host, e.g. "ompi_mpi_comm_world", or nullptr. In a program with copy
// relocations this is the program's copy, as it is for the host itself. Thread-safe.
void* find_host_object(const char* name);

// The same of what lies in libmpi itself or nowhere: where that is visible to all, nothing else is searched. Not for
// names of Fortran: its library may be loaded with local scope above a libmpi that is visible.
void* find_libmpi_object(const char* name);
void* find_libmpi_function(const char* name);  // the next definition, as above

enum class HostAbi { none, openmpi, mpich, mpi_abi };
const char* host_abi_name(HostAbi abi);    // "Open MPI"
const char* host_abi_option(HostAbi abi);  // "openmpi", as `millrace --mpi` takes it

// How the integers of Fortran become C handles.
enum class FortranHandles {
  same,   // they are the same numbers
  f2c,    // MPI_X_f2c, MPI_X_c2f
  mpi_5,  // MPI_X_fromint, MPI_X_toint; Intel MPI has no integers there
};

// Which ABI the libmpi of this process has; none before one is loaded.
HostAbi detect_host_abi();

}  // namespace millrace::shim
