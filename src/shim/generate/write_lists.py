"""export_lists.cpp of the launcher: what each preload exports of MPI in C, so that none is opened to choose one."""

import symbols as shim_symbols
from write_exports import PCONTROL

SOURCE = """\
// Generated from src/shim/table; do not edit.
#include "tools/export_lists.h"

namespace millrace::tools {{
namespace {{

{arrays}
constexpr KnownList lists[] = {{
{rows}
}};

}}  // namespace

std::span<const KnownList> known_lists() {{ return lists; }}

}}  // namespace millrace::tools
"""


def _is_c(name):
    return name.startswith("MPI_") and any(letter.islower() for letter in name)


def source(table):
    arrays, rows = [], []
    for abi in table.abis():
        symbols = shim_symbols.of_abi(table, abi)
        base = {*(s.name for s in shim_symbols.exported(symbols, table.of_abi(abi))), *PCONTROL}
        lists = shim_symbols.export_lists(table, abi)
        # The base list last: another one may have as many of these entries, and more in Fortran.
        for name, generations in sorted(lists.items(), key=lambda each: (each[0] == abi, each[0])):
            names = [*(s.name for s in shim_symbols.exported(symbols, generations)), *PCONTROL]
            names = sorted(filter(_is_c, names), key=lambda each: (each in base, each))
            array = "of_" + name.replace("-", "_").replace(".", "_")
            words = "\n".join(f'    "{each}",' for each in names)
            arrays.append(f"constexpr std::string_view {array}[] = {{\n{words}\n}};\n")
            rows.append(f'    {{"{abi}", "{name}", {array}}},')
    return SOURCE.format(arrays="\n".join(arrays), rows="\n".join(rows))
