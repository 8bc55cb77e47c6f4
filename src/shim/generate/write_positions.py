"""positions.h: where the parameters of the entries stand that have a hook. exchange_shapes.cpp: the shapes of the
collectives that move data (src/shim/call/exchange_shape.h)."""

import re

import fortran

NOTE = "// Generated from src/shim/table; do not edit.\n"

POSITIONS = """\
// at::Send::count is where the count of MPI_Send stands among its words, and those of its twin and of its Fortran
// symbols.
#pragma once

#include <cstddef>

namespace millrace::shim::at {{

{structures}

}}  // namespace millrace::shim::at
"""

SHAPES = """\
#include "shim/call/exchange_shape.h"

namespace millrace::shim {{
namespace {{

using Blocks = ExchangeSide::Blocks;

constexpr ExchangeShape shapes[] = {{
{shapes}
}};
constexpr std::int8_t shape_of_entry[entry_count] = {{
{numbers}
}};

}}  // namespace

const ExchangeShape* exchange_shape(Entry entry) {{
  const int number = shape_of_entry[static_cast<std::size_t>(entry)];
  return number < 0 ? nullptr : &shapes[number];
}}

}}  // namespace millrace::shim
"""


def has_positions(entry):
    """Those of a twin are its entry's."""
    return entry.hook and not entry.large and fortran.parameters(entry) == entry.parameters


def header(table):
    structures = []
    for entry in filter(has_positions, table.entries):
        if entry.parameters:
            places = ", ".join(f"{p.name} = {i}" for i, p in enumerate(entry.parameters))
            structures.append(f"struct {entry.identifier} {{\n  static constexpr std::size_t {places};\n}};")
    return NOTE + POSITIONS.format(structures="\n".join(structures))


def _exchange(entry):
    """(neighbor_ or nothing, the collective, nothing, v or w) of an entry that has a shape, or None."""
    if entry.hook != "exchange" and entry.hook_function != "begin_exchange":
        return None
    name = entry.base_identifier.lower().removesuffix("_init")
    match = re.fullmatch(r"i?(neighbor_)?(gather|scatter|allgather|alltoall|bcast)[vw]?", name)
    return (match[1] or "") + match[2]


def _side(entry, buffer, blocks):
    """Buffer, count, displacements of arrays, datatype: in this order in every call."""
    kinds = [p.kind for p in entry.parameters]
    count, datatype = kinds.index("count", buffer), kinds.index("datatype", buffer)
    displacements = 0
    if entry.parameters[count].dimensions:
        blocks, displacements = "array", count + 1
    own_types = str(bool(entry.parameters[datatype].dimensions)).lower()
    return f"{{Blocks::{blocks}, {own_types}, {buffer}, {count}, {displacements}, {datatype}}}"


def shape(entry):
    """The initialiser of an ExchangeShape, or None."""
    kind = _exchange(entry)
    if not kind:
        return None
    kinds = [p.kind for p in entry.parameters]
    buffers = [i for i, found in enumerate(kinds) if found == "buffer"]
    send = _side(entry, buffers[0], "each" if kind.endswith(("scatter", "alltoall")) else "one")
    receive = _side(entry, buffers[-1], "each" if kind.endswith(("gather", "alltoall")) else "one")
    root, request = (kinds.index(k) if k in kinds else -1 for k in ("root", "request"))
    wide = str("aint" in kinds).lower()
    persistent = str(entry.base_identifier.endswith("_init")).lower()
    words = [f"ExchangeKind::{kind}", send, receive, kinds.index("comm"), root, request, wide, persistent]
    return f"{{{', '.join(map(str, words))}}}"


def shapes(table):
    rows = [shape(entry) for entry in table.entries]
    different = list(dict.fromkeys(row for row in rows if row))
    numbers = [different.index(row) if row else -1 for row in rows]
    return NOTE + SHAPES.format(
        shapes="\n".join(f"    {row}," for row in different),
        numbers="\n".join(f"    {number},  // {e.name}" for number, e in zip(numbers, table.entries, strict=True)),
    )
