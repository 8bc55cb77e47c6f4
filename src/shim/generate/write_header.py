"""An mpi.h of our own for what is compiled here and runs on any host of an ABI (tools/bench): handles, the predefined
datatypes and ops that kernels cover, prototypes under both names. It is C++, and holds what is alike on all hosts."""

import pathlib
import re

import kinds

PREDEFINED = pathlib.Path(__file__).resolve().parent.parent / "host"
NAMED = re.compile(r'\{"(MPI_\w+)", "(\w*)", (0x[0-9a-f]+|0), (0x[0-9a-f]+|0)\}')
# name: type, and its value in each ABI: the object in libmpi, or the number.
CONSTANTS = {
    "MPI_COMM_WORLD": ("MPI_Comm", {"openmpi": "ompi_mpi_comm_world", "mpich": 0x44000000, "abi": 0x101}),
    "MPI_INFO_NULL": ("MPI_Info", {"openmpi": "ompi_mpi_info_null", "mpich": 0x1C000000, "abi": 0x130}),
    "MPI_STATUS_IGNORE": ("MPI_Status*", {"openmpi": 0, "mpich": 1, "abi": 0}),
    "MPI_STATUSES_IGNORE": ("MPI_Status*", {"openmpi": 0, "mpich": 1, "abi": 0}),
    "MPI_COMM_TYPE_SHARED": ("int", {"openmpi": 0, "mpich": 1, "abi": 221}),
    "MPI_ORDER_C": ("int", {"openmpi": 0, "mpich": 56, "abi": 12}),
}
PLAIN = {*kinds.HANDLES, *kinds.INTEGERS, *kinds.WIDENING, *kinds.STRUCTURES, *kinds.VOID, "string"} - {"f08_status"}
ARGUMENTS = {"main_argc", "main_argv"}
HEADER = """\
// Generated from src/shim; do not edit. Written for hosts of the {abi} ABI.
#pragma once

#include <stdint.h>

{handles}
using MPI_Aint = intptr_t;
using MPI_Offset = int64_t;
using MPI_Count = int64_t;
using MPI_Fint = int;
struct MPI_Status;  // only ignored here

extern "C" {{
{objects}{prototypes}
}}

{constants}
"""


def header(table, abi):
    constants = dict(CONSTANTS)
    for name, of, values in _predefined():
        constants[name] = (of, values)
    objects = {values[abi] for _, values in constants.values() if isinstance(values[abi], str)}
    entries = [entry for entry in table.entries if _is_plain(entry, table)]
    lines = [_prototype(entry, prefix) for entry in entries for prefix in ("", "P")]
    return HEADER.format(
        abi=abi,
        handles="\n".join(_handle(name, abi) for name in sorted(kinds.HANDLES.values())),
        objects="".join(f"extern char {name}[];\n" for name in sorted(objects)),
        prototypes="\n".join(lines),
        constants="\n".join(_constant(name, of, values[abi], abi) for name, (of, values) in constants.items()),
    )


def _predefined():
    """Of the tables of the shim: those that every ABI has."""
    for stem in ("predefined_c", "predefined"):
        for name, openmpi, mpich, abi in NAMED.findall((PREDEFINED / f"{stem}.cpp").read_text()):
            if openmpi and int(mpich, 0) and int(abi, 0):
                of = "MPI_Op" if stem == "predefined" else "MPI_Datatype"
                yield name, of, {"openmpi": openmpi, "mpich": int(mpich, 0), "abi": int(abi, 0)}


def _handle(name, abi):
    is_number = abi == "mpich" and name != "MPI_File"
    return f"using {name} = int;" if is_number else f"using {name} = struct {name}_object*;"


def _is_plain(entry, table):
    if entry.removed or entry.large or not {g.name for g in table.generations} <= set(entry.hosts):
        return False
    return {p.kind for p in entry.parameters} <= PLAIN | (ARGUMENTS if entry.name == "MPI_Init" else set())


def _prototype(entry, prefix):
    text = kinds.c_prototype(entry)
    return text.replace(f" {entry.name}(", f" {prefix}{entry.name}(", 1).replace("(void)", "()") + ";"


def _constant(name, of, value, abi):
    if isinstance(value, str):
        return f"inline {of} const {name} = reinterpret_cast<{of}>({value});"
    if of == "int":
        return f"inline constexpr int {name} = {value};"
    if abi == "mpich" and not of.endswith("*"):
        return f"inline constexpr {of} {name} = static_cast<{of}>({value:#x}u);"
    return f"inline {of} const {name} = reinterpret_cast<{of}>(intptr_t{{{value:#x}}});"
