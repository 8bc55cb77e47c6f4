"""Symbols that hosts export under MPI's names and that the table leaves out, each with the reason."""

import re

VARIADIC = "variadic: it has a way of its own past the table (src/shim/process/pcontrol.cpp)"
CALLBACK = "a predefined callback: a value that programs pass, not an entry"
OPEN_MPI_INTERNAL = "Open MPI's own implementation of Fortran functions"
NOT_STANDARD = "in no version of the standard"
NO_C = "Fortran only: there is no C entry behind it"

C = {
    "MPI_Pcontrol": VARIADIC,
    "MPI_Session_set_info": NOT_STANDARD,
    "MPI_AINT_ADD_F90": OPEN_MPI_INTERNAL,
    "MPI_AINT_DIFF_F90": OPEN_MPI_INTERNAL,
    "MPI_WTICK_F90": OPEN_MPI_INTERNAL,
    "MPI_WTIME_F90": OPEN_MPI_INTERNAL,
}
PATTERNS = [
    (r"MPI_((COMM|TYPE|WIN)_)?(DUP|NULL_COPY|NULL_DELETE)_FN|MPI_CONVERSION_FN_NULL", CALLBACK),
    (r"mpi_((comm|type|win)_)?(dup|null_copy|null_delete)_fn_|mpi_conversion_fn_null_", CALLBACK),
    (r"mpi_sizeof_\w+", NO_C),
    (r"mpi_f_sync_reg(_f08(ts)?)?_", NO_C),
    (r"mpi_pcontrol(_f08)?_|mpi_pcontrol(__)?|MPI_PCONTROL|ompi_pcontrol_f", VARIADIC),
    (r"mpi_delete_error_(class|code|string)_f08_", NOT_STANDARD),  # MPICH's MPIX_Delete_*, before MPI-4.1's Remove_*
]


def reason(name):
    return C.get(name) or next((why for pattern, why in PATTERNS if re.fullmatch(pattern, name)), None)
