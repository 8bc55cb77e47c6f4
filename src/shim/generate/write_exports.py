"""millrace-<list>.map: the version scripts, one per preload."""

import symbols as shim_symbols
from write_forwards import VERSION

SCRIPT = """\
/* Generated from src/shim/table; do not edit.
 * The first node gets the version index 2, which the dynamic linker lets unversioned references bind to. */
{version} {{
  global:
{names}
  local:
    *;
}};

/* Millrace's own functions, not MPI's. */
MILLRACE_OWN {{
  global:
    millrace_*;
}};
"""


# Not of the table, since it is variadic (process/pcontrol.cpp). mpif.h's are put before MPICH's too, which leaves out a
# name that comes with the level; those of mpi_f08 call PMPI_Pcontrol.
PCONTROL = ["MPI_Pcontrol", "mpi_pcontrol_", "mpi_pcontrol", "mpi_pcontrol__", "MPI_PCONTROL"]
PCONTROL_F08 = {"openmpi": "ompi_pcontrol_f"}


def pcontrol(abi):
    return [*PCONTROL, PCONTROL_F08.get(abi, "mpi_pcontrol_f08_")]


def script(symbols, generations, also=()):
    names = [*(s.name for s in shim_symbols.exported(symbols, generations)), *also]
    names = "\n".join(f"    {name};" for name in names)
    return SCRIPT.format(version=VERSION, names=names)
