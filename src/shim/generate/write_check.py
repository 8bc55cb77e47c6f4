"""The programs of `millrace check`: for each language a table of the entries with a function that calls each, and
for Fortran those functions. tools/check/programs/driver.c drives them."""

import textwrap

import fortran
import fortran_types

LANGUAGES = ("mpifh", "usempi", "f08")
NOTE = "Generated from src/shim/table; do not edit."

TABLE = """\
/* {note} */
#include "check_row.h"

{declarations}
const struct check_row check_rows[] = {{
{rows}
}};
const unsigned check_row_count = {count};
"""


def files(table):
    result = {"rows_c.c": _c_table(table)}
    for language in LANGUAGES:
        result[f"rows_{language}.c"] = _fortran_table(table, language)
        result[f"calls_{language}.F90"] = _fortran_calls(table, language)
    result["entries.list"] = "\n".join(entry.name for entry in table.entries) + "\n"
    return result


def _rows(rows):
    """rows: (entry number, entry name, function, symbols that show its presence)"""
    return TABLE.format(
        note=NOTE,
        declarations="\n".join(f"extern void {function}(void) __attribute__((weak));" for _, _, function, _ in rows),
        rows="\n".join(f'    {{{n}, "{name}", {function}, "{" ".join(symbols)}"}},' for n, name, function, symbols in rows),
        count=len(rows),
    )


def _c_table(table):
    return _rows([(n, e.name, e.name, [e.name]) for n, e in enumerate(table.entries)])


def _fortran_entries(table, language):
    return [(n, e) for n, e in enumerate(table.entries) if fortran_types.is_in(e, language)]


def _fortran_table(table, language):
    return _rows(
        [
            (n, e.name, f"check_{language}_{e.name}", fortran_types.specifics(e, language))
            for n, e in _fortran_entries(table, language)
        ]
    )


HEAD = {
    "mpifh": "module check_{language}\n  use, intrinsic :: iso_c_binding, only: c_int\n  implicit none\n  include 'mpif.h'\n",
    "usempi": "module check_{language}\n  use, intrinsic :: iso_c_binding, only: c_int\n  use mpi\n  implicit none\n",
    "f08": "module check_{language}\n  use, intrinsic :: iso_c_binding\n  use mpi_f08\n  implicit none (type, external)\n",
}


def _fortran_calls(table, language):
    head = HEAD[language].format(language=language) + "  integer(c_int), bind(C, name='check_comm') :: check_comm\n"
    if language != "f08":
        head += "  external :: check_callback\n"
    subroutines = [_subroutine(e, language) for _, e in _fortran_entries(table, language)]
    tail = "" if language == "f08" else "\nsubroutine check_callback()\nend subroutine\n"
    if language == "f08":
        subroutines.insert(0, "  subroutine check_callback() bind(C)\n  end subroutine\n")
    return f"! {NOTE}\n{head}contains\n\n" + "\n".join(subroutines) + f"end module\n{tail}"


def _subroutine(entry, language):
    f08 = language == "f08"
    parameters = fortran.parameters(entry)
    name = f"check_{language}_{entry.name}"
    lines = [f"subroutine {name}() bind(C, name='{name}')"]
    lines += [d for d in (fortran_types.declaration(p, entry, f08) for p in parameters) if d]
    if not fortran.is_function(entry):
        lines.append("integer :: ierror")
    arguments = []
    for p in parameters:
        if p.kind == "comm" and p.direction == "in":
            lines.append(f"a_{p.name}{'%MPI_VAL' if f08 else ''} = check_comm")
        if p.is_callback and f08:
            lines.append(f"call c_f_procpointer(c_funloc(check_callback), a_{p.name})")
        arguments.append("check_callback" if p.is_callback and not f08 else f"a_{p.name}")
    called = fortran_types.called_name(entry)
    if fortran.is_function(entry):
        kind = "double precision" if entry.returns == "seconds" else "integer(MPI_ADDRESS_KIND)"
        lines.insert(1, f"{kind} :: value")
        if language == "mpifh":  # not every mpif.h declares all functions
            lines.insert(1, f"{kind}, external :: {called}")
        lines += _wrapped(f"value = {called}({', '.join(arguments)})")
    else:
        lines += _wrapped(f"call {called}({', '.join([*arguments, 'ierror'])})")
    return f"  ! entry {entry.name}\n  " + "\n    ".join(lines) + "\n  end subroutine\n"


def _wrapped(statement):
    lines = textwrap.wrap(statement, 100, break_long_words=False)
    return [line + (" &" if i + 1 < len(lines) else "") for i, line in enumerate(lines)]
