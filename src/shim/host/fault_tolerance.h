// Programs that survive the failure of ranks (User Level Failure Mitigation). Their host tells them of a failed rank
// and of a revoked communicator by error classes that it alone can find out, in every call, also while a rank waits; so
// their collectives and messages are left to it.
#pragma once

namespace millrace::shim {

// Whether the host was told to survive the failure of ranks: `mpirun --with-ft ulfm` of Open MPI 5, MPIR_CVAR_ENABLE_FT
// of MPICH (whose installations here accept that and then end the job). After MPI_Init.
bool host_survives_failures();

}  // namespace millrace::shim
