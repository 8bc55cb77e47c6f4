"""The programs of `millrace check`: for each language a table of the entries with a function that calls each, and
for Fortran those functions. tools/check/programs/driver.c drives them."""

import dataclasses
import textwrap

import fortran
import fortran_types

LANGUAGES = ("mpifh", "usempi", "f08")
NOTE = "Generated from src/shim/table; do not edit."

TABLE = """\
/* {note} */
#include "check_row.h"

{declarations}
struct check_row check_rows[] = {{
{rows}
}};
const unsigned check_row_count = {count};

void check_fill_rows(void) {{
{calls}
}}
"""


def files(table):
    result = {"rows_c.c": _table([(n, e.name, e.name, [e.name]) for n, e in enumerate(table.entries)])}
    for language in LANGUAGES:
        calls = list(_calls(table, language))
        rows = [(c.number, c.name, c.function, c.specifics) for c in calls]
        result[f"rows_{language}.c"] = _table(rows)
        result[f"calls_{language}.F90"] = _source(calls, language)
    result["entries.list"] = "\n".join(entry.name for entry in table.entries) + "\n"
    return result


@dataclasses.dataclass(frozen=True)
class Call:
    number: int
    entry: object
    language: str
    with_c_ptr: bool = False  # `use mpi` has two forms of what returns memory: INTEGER(ADDRESS) and TYPE(C_PTR)

    @property
    def name(self):
        return self.entry.name + ("_cptr" if self.with_c_ptr else "")

    @property
    def function(self):
        return f"check_{self.language}_{self.name}"

    @property
    def specifics(self):
        if self.with_c_ptr:
            return fortran.mangled(self.entry, "_cptr")
        return fortran_types.specifics(self.entry, self.language)


def _calls(table, language):
    for number, entry in enumerate(table.entries):
        if fortran_types.is_in(entry, language):
            yield Call(number, entry, language)
            if language == "usempi" and fortran.has(entry, "pointer") and "detach" not in entry.name:
                yield Call(number, entry, language, True)


def _table(rows):
    return TABLE.format(
        note=NOTE,
        declarations="\n".join(f"extern void {function}(void) __attribute__((weak));" for _, _, function, _ in rows),
        rows="\n".join(f'    {{{number}, "{name}", 0, "{" ".join(shown)}"}},' for number, name, _, shown in rows),
        calls="\n".join(f"  check_rows[{i}].call = {call};" for i, (_, _, call, _) in enumerate(rows)),
        count=len(rows),
    )


HEAD = {
    "mpifh": "  implicit none\n  include 'mpif.h'\n  external :: check_callback\n",
    "usempi": "  use mpi\n  implicit none\n  external :: check_callback\n",
    "f08": "  use mpi_f08\n  implicit none (type, external)\n",
}
CALLBACK = "subroutine check_callback(){}\nend subroutine\n"


def _source(calls, language):
    head = f"module check_{language}\n  use, intrinsic :: iso_c_binding\n{HEAD[language]}"
    head += "  integer(c_int), bind(C, name='check_comm') :: check_comm\ncontains\n\n"
    subroutines = [_subroutine(call) for call in calls]
    tail = "\n" + CALLBACK.format("")
    if language == "f08":
        subroutines.insert(0, CALLBACK.format(" bind(C)"))
        tail = ""
    return f"! {NOTE}\n{head}" + "\n".join(subroutines) + f"end module\n{tail}"


def _subroutine(call):
    entry, f08 = call.entry, call.language == "f08"
    parameters = fortran.parameters(entry)
    lines = [f"subroutine {call.function}() bind(C, name='{call.function}')"]
    lines += [fortran_types.declaration(p, entry, f08 or call.with_c_ptr and p.kind == "pointer") for p in parameters]
    lines = [line for line in lines if line]
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
        if call.language == "mpifh":  # not every mpif.h declares all functions
            lines.insert(1, f"{kind}, external :: {called}")
        lines += _wrapped(f"value = {called}({', '.join(arguments)})")
    else:
        lines += _wrapped(f"call {called}({', '.join([*arguments, 'ierror'])})")
    return f"  ! entry {call.name}\n  " + "\n    ".join(lines) + "\n  end subroutine\n"


def _wrapped(statement):
    lines = textwrap.wrap(statement, 100, break_long_words=False)
    return [line + (" &" if i + 1 < len(lines) else "") for i, line in enumerate(lines)]
