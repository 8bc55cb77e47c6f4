"""The Fortran side of an entry: its symbols in each ABI and how many machine words a call passes."""

NOT_IN_FORTRAN = {"main_argc", "main_argv"}
CHARACTERS = {"string", "argv", "strings", "argvs"}


def parameters(entry):
    """The C parameters that exist in Fortran, in order; ierror comes after them."""
    if entry.name == "MPI_Info_create_env":  # argc and argv are the program's own in Fortran
        return [p for p in entry.parameters if p.name == "info"]
    return [p for p in entry.parameters if p.kind not in NOT_IN_FORTRAN]


def is_function(entry):
    return entry.returns != "error"


def words(entry):
    """Everything goes by address; every CHARACTER argument adds its length at the end."""
    given = parameters(entry)
    return len(given) + (not is_function(entry)) + sum(p.kind in CHARACTERS for p in given)


def mangled(entry):
    """How compilers spell an external procedure: gfortran and ifx, none, two underscores, upper case."""
    lower = entry.name.lower()
    return [f"{lower}_", lower, f"{lower}__", entry.name.upper()]


def symbol_names(entry, abi, generations):
    """(symbol, generations) of the Fortran symbols that a preload of this ABI must define."""
    if not entry.fortran or entry.large:
        return []
    if abi == "openmpi":
        # libmpi_mpifh, libmpi_usempif08: both end in ompi_x_f, which calls PMPI_X.
        names = [*mangled(entry), f"ompi_{entry.identifier.lower()}_f"]
        return [(name, entry.hosts & generations) for name in names]
    return []
