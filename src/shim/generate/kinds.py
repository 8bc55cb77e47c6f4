"""What each kind of parameter is in C, in mpif.h and in mpi_f08."""

HANDLES = {
    "comm": "MPI_Comm", "group": "MPI_Group", "datatype": "MPI_Datatype", "op": "MPI_Op", "win": "MPI_Win",
    "file": "MPI_File", "request": "MPI_Request", "message": "MPI_Message", "info": "MPI_Info",
    "errhandler": "MPI_Errhandler", "session": "MPI_Session",
}  # fmt: skip
TOOL_HANDLES = {
    "tool_enum": "MPI_T_enum", "cvar_handle": "MPI_T_cvar_handle", "pvar_handle": "MPI_T_pvar_handle",
    "pvar_session": "MPI_T_pvar_session", "event_registration": "MPI_T_event_registration",
    "event_instance": "MPI_T_event_instance", "callback_safety": "MPI_T_cb_safety",
    "source_order": "MPI_T_source_order",
}  # fmt: skip
INTEGERS = {
    "int": "int", "rank": "int", "root": "int", "tag": "int", "logical": "int", "aint": "MPI_Aint",
    "offset": "MPI_Offset", "bigcount": "MPI_Count", "fint": "MPI_Fint",
}  # fmt: skip
# kind: (type in the entry, type in its large-count twin)
WIDENING = {
    "count": ("int", "MPI_Count"), "displacement": ("MPI_Aint", "MPI_Count"), "step": ("int", "MPI_Aint"),
}  # fmt: skip
STRUCTURES = {"status": "MPI_Status", "f08_status": "MPI_F08_status"}  # always passed by address
VOID = {"buffer", "pointer", "memory", "state", "attribute"}
STRINGS = {  # kind: parameter type
    "argv": "char *{}[]", "strings": "char *{}[]", "argvs": "char **{}[]", "main_argv": "char ***{}",
    "main_argc": "int *{}",
}  # fmt: skip
LARGE_CALLBACKS = {"user_function", "datarep_conversion_function"}
RETURNS = {"error": "int", "seconds": "double"}

ALL = {*HANDLES, *TOOL_HANDLES, *INTEGERS, *WIDENING, *STRUCTURES, *VOID, *STRINGS, "string"}


def value_type(kind, large):
    """The C type of one value of a kind that is passed by value when it is `in`."""
    if kind in WIDENING:
        return WIDENING[kind][1 if large else 0]
    return {**HANDLES, **TOOL_HANDLES, **INTEGERS, **STRUCTURES}[kind]


def callback_type(parameter, large):
    name = parameter.kind.removeprefix("callback:")
    if large and name in LARGE_CALLBACKS:
        name += "_c"
    return "MPI_T_" + name.removeprefix("t_") if name.startswith("t_") else "MPI_" + name[0].upper() + name[1:]


def c_parameter(parameter, entry):
    """The parameter in a C prototype, e.g. `const int sendcounts[]`. MPI-2 and before had no const."""
    name, kind = parameter.name, parameter.kind
    const = "const " if parameter.direction == "in" and not entry.removed else ""
    if parameter.is_callback:
        return f"{callback_type(parameter, entry.large)} *{name}"
    if kind in VOID:
        passive = kind in ("state", "attribute") or (kind == "memory" and parameter.name != "buf")
        return f"void *{name}" if passive else f"{const}void *{name}"
    if kind == "string":
        return f"{const}char *{name}"
    if kind in STRINGS:
        return STRINGS[kind].format(name)
    if parameter.dimensions == "[][3]":
        return f"int {name}[][3]"
    of = value_type(kind, entry.large)
    if parameter.dimensions:
        return f"{const}{of} {name}[]"
    if kind in STRUCTURES:
        return f"{const}{of} *{name}"
    return f"{of} {name}" if parameter.direction == "in" else f"{of} *{name}"


def c_return(entry):
    return RETURNS.get(entry.returns) or value_type(entry.returns, False)


def c_prototype(entry):
    return f"{c_return(entry)} {entry.name}({', '.join(c_parameter(p, entry) for p in entry.parameters) or 'void'})"
