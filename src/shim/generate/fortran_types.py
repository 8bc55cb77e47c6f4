"""How the arguments of an entry are declared and passed in a Fortran program."""

import fortran
import kinds

INTEGER_KINDS = {"aint": "MPI_ADDRESS_KIND", "offset": "MPI_OFFSET_KIND", "bigcount": "MPI_COUNT_KIND"}
# kind of C -> Fortran integer kind; in the large-count twin
WIDE = {"count": "MPI_COUNT_KIND", "displacement": "MPI_COUNT_KIND", "step": "MPI_ADDRESS_KIND"}
ADDRESS = {"state", "attribute"}
LENGTH = 64  # of every array
LONGEST_STRING = 16384  # at least MPI_MAX_LIBRARY_VERSION_STRING of every host


def has_own_specific(entry):
    """Whether a twin exists in mpi_f08 beside its entry: MPI_Aint and MPI_Count are the same integer there, so that
    a twin that widens nothing but MPI_Aint is the entry itself."""
    return any(p.kind in ("count", "step") or p.large_only for p in entry.parameters) or names_its_twin(entry)


def names_its_twin(entry):
    """The twins of functions that take callbacks are called MPI_X_c in Fortran too, all others MPI_X."""
    return any(p.kind.removeprefix("callback:") in kinds.LARGE_CALLBACKS for p in entry.parameters)


def called_name(entry):
    return entry.name if not entry.large or names_its_twin(entry) else entry.name.removesuffix("_c")


def declaration(parameter, entry, f08):
    """One line that declares a variable with the parameter's name, initialised where that is simple."""
    name, kind = f"a_{parameter.name}", parameter.kind
    rank = {"": "", "[]": f"({LENGTH})", "[][3]": f"(3,{LENGTH})"}[parameter.dimensions]
    if parameter.is_callback:
        return f"procedure({kinds.callback_type(parameter, entry.large)}), pointer :: {name}" if f08 else ""
    if kind in ("buffer", "pointer") and not f08 or kind == "buffer":
        old_pointer = kind == "pointer" and "detach" not in entry.name.lower()
        return f"integer(MPI_ADDRESS_KIND) :: {name}" if old_pointer else f"integer, target :: {name}({LENGTH})"
    if kind == "pointer":
        return f"type(c_ptr) :: {name}"
    if kind == "string":
        return f"character(len={LONGEST_STRING}) :: {name} = ' '"
    if kind in ("argv", "strings"):
        return f"character(len=8) :: {name}(2) = ' '"
    if kind == "argvs":
        return f"character(len=8) :: {name}(2,2) = ' '"
    if kind == "logical":
        return f"logical :: {name}{rank} = .false."
    if kind == "status" and not f08:
        rank = f",{LENGTH}" if rank else ""
        return f"integer :: {name}(MPI_STATUS_SIZE{rank}) = 0"
    if kind == "status" or kind in kinds.HANDLES and f08:
        return f"type({kinds.value_type(kind, False)}) :: {name}{rank}"
    if kind in kinds.HANDLES:
        return f"integer :: {name}{rank} = 0"
    return f"{_integer(kind, entry)} :: {name}{rank} = 0"


def _integer(kind, entry):
    if entry.removed or entry.deprecated == "2.0":  # bindings of MPI-1: an address is an INTEGER
        return "integer"
    if kind in WIDE:
        wide = WIDE[kind] if entry.large else "MPI_ADDRESS_KIND" if kind == "displacement" else None
    else:
        wide = "MPI_ADDRESS_KIND" if kind in ADDRESS else INTEGER_KINDS.get(kind)
    return f"integer({wide})" if wide else "integer"


def is_in(entry, language):
    """Whether the entry has a binding of its own in mpifh, usempi or f08."""
    if language != "f08":
        return bool(entry.fortran) and not entry.large
    return entry.fortran == "all" and (not entry.large or has_own_specific(entry))


def specifics(entry, language):
    """Symbols by which a host's library shows that it has the entry."""
    if language != "f08":
        return fortran.mangled(entry)
    base = entry.name.lower()
    if not entry.large:
        return [f"{base}_f08_", f"{base}_f08ts_"]
    short = base.removesuffix("_c")
    return [f"{base}_f08_", f"{base}_f08ts_", f"{short}_f08_large_", f"{short}_f08ts_large_"]
