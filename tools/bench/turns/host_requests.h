// The host's own functions that begin and complete what is nonblocking, by their addresses: a program whose symbol
// table names them is taken for one that completes requests behind Millrace, which then leaves such calls to the host.
#pragma once

#include <dlfcn.h>
#include <mpi.h>

namespace turns {

template <class Function>
Function* host_function(Function*, const char* name) {
  return reinterpret_cast<Function*>(dlsym(RTLD_DEFAULT, name));
}

struct HostRequests {
  decltype(&MPI_Wait) wait = host_function(&MPI_Wait, "PMPI_Wait");
  decltype(&MPI_Waitall) waitall = host_function(&MPI_Waitall, "PMPI_Waitall");
  decltype(&MPI_Testall) testall = host_function(&MPI_Testall, "PMPI_Testall");
  decltype(&MPI_Start) start = host_function(&MPI_Start, "PMPI_Start");
  decltype(&MPI_Startall) startall = host_function(&MPI_Startall, "PMPI_Startall");
  decltype(&MPI_Request_free) request_free = host_function(&MPI_Request_free, "PMPI_Request_free");
};
inline const HostRequests& host_requests() {
  static const HostRequests functions;
  return functions;
}

}  // namespace turns
