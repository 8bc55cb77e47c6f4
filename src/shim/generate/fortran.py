"""The Fortran side of an entry: its symbols in each ABI and how many machine words a call passes."""

NOT_IN_FORTRAN = {"main_argc", "main_argv"}
CHARACTERS = {"string", "argv", "strings", "argvs"}
MPIFH_AROUND_MPICH = {"MPI_Keyval_create", "MPI_Cart_sub"}  # Intel's own: C internals; MPI_Cartdim_get before
F08_AROUND_OMPI = {"MPI_Buffer_detach", "MPI_Testsome"}


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


def has(entry, kind):
    return any(p.kind == kind for p in entry.parameters)


def mangled(entry, suffix=""):
    """How compilers spell an external procedure: with one underscore, none, two, and in upper case."""
    lower = entry.name.lower() + suffix
    return [f"{lower}_", lower, f"{lower}__", lower.upper()]


def symbol_names(entry, abi, generations):
    """(symbol, generations) of the Fortran symbols that a preload of this ABI must define, because the host's own
    would not come to the C symbol of the entry. docs/entries.md says how that was found out for each host."""
    if not entry.fortran:
        return []
    names = _openmpi_names(entry) if abi == "openmpi" else _mpich_names(entry)
    return [(name, entry.fortran_hosts & generations) for name in names]


def _openmpi_names(entry):
    """Nothing of Open MPI's Fortran calls MPI_X. mpif.h and `use mpi` call mpi_x_, an alias of ompi_x_f, which calls
    PMPI_X; routines of mpi_f08 call ompi_x_f, but those with a LOGICAL (and a few more)
    call pmpi_x_ or C."""
    if entry.large:
        return []
    lower = entry.identifier.lower()
    names = [*mangled(entry), f"ompi_{lower}_f"]
    if has(entry, "pointer") and entry.name != "MPI_Buffer_detach":
        names += [*mangled(entry, "_cptr"), f"ompi_{lower}_cptr_f"]  # the form with TYPE(C_PTR) of `use mpi`
    if has(entry, "logical") or entry.name in F08_AROUND_OMPI:
        names.append(f"mpi_{lower}_f08_")
    return names


def _mpich_names(entry):
    """mpif.h calls MPI_X, attributes excepted. Routines of mpi_f08 with a choice buffer (mpi_x_f08ts_) call MPI_X,
    all others (mpi_x_f08_) PMPI_X."""
    lower = entry.name.lower()
    names = []
    if not entry.large and (has(entry, "attribute") or entry.name in MPIFH_AROUND_MPICH):
        names += mangled(entry)
    if entry.fortran == "all" and (not has(entry, "buffer") or entry.name == "MPI_Free_mem"):
        # The large-count twin has two spellings: MPICH's and Intel's.
        names += [f"{lower.removesuffix('_c')}_f08_large_", f"{lower}_f08_"] if entry.large else [f"{lower}_f08_"]
    return names
