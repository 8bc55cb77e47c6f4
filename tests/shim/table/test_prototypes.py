"""The C prototypes that the table gives are those of each host's mpi.h, type for type."""

import hosts
import kinds
import pytest

# Declared without the const of the standard: nothing that a call can notice.
WITHOUT_CONST = {
    "mpich4": {"MPI_Pready_list"},
    "openmpi5": {"MPI_Pready_list"},
    "intel": {
        "MPI_Request_get_status_all", "MPI_Request_get_status_any", "MPI_Request_get_status_some",
        "MPI_Status_get_error", "MPI_Status_get_source", "MPI_Status_get_tag",
    },
}  # fmt: skip

SOURCE = """\
#include <mpi.h>
#include <type_traits>
#define CHECK(name, ...) static_assert(std::is_same_v<decltype(&name), __VA_ARGS__>, #name)
{checks}
int main() {{}}
"""


def function_pointer(entry, without_const=False):
    parameters = ", ".join(kinds.c_parameter(p, entry) for p in entry.parameters)
    parameters = parameters.replace("const ", "") if without_const else parameters
    return f"{kinds.c_return(entry)} (*)({parameters})"


def is_declared(host, entry):
    """Open MPI and the ABI's header do not declare what MPI-3.0 removed, though the libraries have it. In MPICH's ABI
    handles are integers: its headers have macros for the conversions."""
    if entry.removed:
        return host.variant == "mpich"
    return not (host.variant == "mpich" and entry.name.endswith(("_c2f", "_f2c")))


@pytest.mark.parametrize("name", [*hosts.HOSTS])
def test_prototypes_are_those_of_mpi_h(name, table, tmp_path):
    host = hosts.get(name)
    if host.missing():
        pytest.skip(host.missing())
    entries = [e for e in table.entries if host.generation in e.hosts and is_declared(host, e)]
    assert len(entries) > 400
    loose = WITHOUT_CONST.get(name, set())
    checks = "\n".join(f"CHECK({e.name}, {function_pointer(e, e.name in loose)});" for e in entries)
    source = tmp_path / "prototypes.cpp"
    source.write_text(SOURCE.format(checks=checks))
    hosts.compile(name, source, tmp_path / "prototypes", flags=["-std=c++20", "-Wno-deprecated-declarations"])
