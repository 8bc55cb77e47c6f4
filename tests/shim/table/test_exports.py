"""The table against what the hosts' libraries export."""

import re

import exceptions
import hosts
import pytest
import symbols as shim_symbols
from symbols_of import exported_functions, fortran_libraries


def test_every_exported_entry_is_in_the_table(host, table):
    known = {entry.name for entry in table.entries}
    exported = {name for name in exported_functions(host.library) if name.startswith("MPI_")}
    unknown = {name for name in exported - known if not exceptions.reason(name)}
    assert unknown == set()


def test_the_table_knows_what_each_host_has(host, table, generation):
    said = {entry.name for entry in table.entries if generation in entry.hosts}
    exported = {name for name in exported_functions(host.library) if name.startswith("MPI_")}
    assert said - exported == set()
    assert {name for name in exported - said if not exceptions.reason(name)} == set()


def test_intel_abi_library_is_known(table):
    host = hosts.get("abi-intel")
    if host.missing():
        pytest.skip(host.missing())
    said = {entry.name for entry in table.entries if host.generation in entry.hosts}
    exported = {name for name in exported_functions(host.library) if name.startswith("MPI_")}
    assert {name for name in said ^ exported if not exceptions.reason(name)} == set()


def test_no_exception_is_stale(table):
    """An exception must not hide an entry of the table."""
    assert [entry.name for entry in table.entries if exceptions.reason(entry.name)] == []


@pytest.mark.parametrize("name", ["openmpi4", "mpich4", "intel", "abi-intel"])
def test_every_fortran_symbol_belongs_to_an_entry(name, table):
    host = hosts.get(name)
    if host.missing():
        pytest.skip(host.missing())
    identifiers = {entry.name.lower() for entry in table.entries}
    unknown = set()
    for symbol in set().union(*map(exported_functions, fortran_libraries(host))):
        match = re.fullmatch(r"(mpi_[a-z0-9_]+?)(_cptr)?(_f08(ts)?(_large)?)?_", symbol)
        if match and "_mp_" not in symbol and not symbol.endswith("__") and match[1] not in identifiers:
            unknown |= {symbol} if not exceptions.reason(symbol) else set()
    assert unknown == set()


@pytest.mark.parametrize("name", ["openmpi4", "mpich4", "intel", "abi-intel"])
def test_fortran_overrides_exist_in_the_host(name, table):
    """A misspelt override would catch nothing: at least one spelling of each is in the host's Fortran libraries."""
    host = hosts.get(name)
    if host.missing():
        pytest.skip(host.missing())
    exported = set().union(*map(exported_functions, fortran_libraries(host)))
    symbols = shim_symbols.of_abi(table, host.variant)
    missing = set()
    for entry in table.entries:
        names = {s.name for s in symbols if s.is_fortran and s.entry is entry and host.generation in s.hosts}
        if names and not names & exported:
            missing.add(entry.name)
    # Types that are wide enough already have no large-count specific: MPI_Aint and MPI_Count are the same Fortran kind.
    no_specific = {f"MPI_{x}_c" for x in ("File_get_type_extent", "Type_create_resized", "Type_get_extent")}
    no_specific.add("MPI_Type_get_true_extent_c")
    mpich4 = {"MPI_Op_create_c", "MPI_Register_datarep_c", "MPI_Free_mem"} if name == "mpich4" else set()
    assert missing - no_specific - mpich4 == set()
