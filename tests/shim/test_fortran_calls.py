"""Collectives in shared memory and derived datatypes from Fortran: the calls that do not come through C."""

import pathlib

import hosts
import pytest
from shim_programs import OUT, build, call, report, run
from usable import usable

INTERFACES = [
    (name, interface)
    for name, host in hosts.HOSTS.items()
    for interface in ("mpi", "mpi_f08")
    if interface in host.fortran_interfaces
]


def program_of(host, interface):
    # Arguments of any type in `use mpi` of hosts without compiler extensions: gfortran must not compare the calls.
    flags = ["-cpp", "-fallow-argument-mismatch"] + (["-DF08"] if interface == "mpi_f08" else [])
    modules = OUT / host / interface  # where the compiler puts the program's own module
    modules.mkdir(parents=True, exist_ok=True)
    return build(host, "fortran_calls.F90", *flags, f"-J{modules}", name=f"fortran_calls_{interface}")


@pytest.mark.parametrize("host, interface", INTERFACES)
def test_collectives_and_derived_datatypes(host, interface):
    program = program_of(host, interface)
    assert run(host, 3, program, millrace=False).check().stdout.strip() == "done"
    finished, result = report(host, 3, program, env={"MILLRACE_LAYOUTS": "always"})
    assert finished.stdout.strip() == "done"
    for name in ("MPI_Barrier", "MPI_Bcast", "MPI_Reduce", "MPI_Allreduce", "MPI_Scan", "MPI_Exscan",
                 "MPI_Reduce_scatter", "MPI_Reduce_scatter_block", "MPI_Pack", "MPI_Unpack"):  # fmt: skip
        assert call(result, name)["taken"] > 0, name
    # MPICH 4.0 cannot receive packed bytes as a type of mixed elements: those it sends itself.
    for name in ("MPI_Sendrecv", "MPI_Irecv", *(["MPI_Isend"] if host != "mpich4" else [])):
        assert call(result, name)["taken"] > 0, name
    assert run(host, 2, program).check().stdout.strip() == "done"


@pytest.mark.parametrize("host", [name for name, host in hosts.HOSTS.items() if "fortran" in host.compilers])
def test_a_fortran_library_that_few_see(host):
    """As an extension module of Python loads it: with local scope, above a libmpi that everybody sees."""
    part = build(host, "local_fortran_part.F90", "-shared", "-fPIC", name="local_fortran_part.so")
    program = build(host, "local_fortran.c", "-ldl", "-Wl,--as-needed")
    words = (program, hosts.get(host).library, part)
    assert run(host, 2, *words, millrace=False).check().stdout.split() == ["done"]
    finished, result = report(host, 2, *words)
    assert finished.stdout.split() == ["done"]
    assert call(result, "MPI_Allreduce")["taken"] > 200


def test_fortran_of_an_mpi_5_library():
    """Only Intel MPI has one, and its modules are not for gfortran: the symbols are called from C."""
    host = usable("abi-intel")
    directory = pathlib.Path(host.library).parent
    flags = [f"-L{directory}", "-Wl,--no-as-needed", "-l:libmpifort_abi.so.1", f"-Wl,-rpath,{directory}"]
    program = build("abi-intel", "abi_fortran.c", *flags)
    settings = {"MILLRACE_LAYOUTS": "always"}
    assert run("abi-intel", 2, program, millrace=False).check().stdout == "0 wrong\n"
    finished, result = report("abi-intel", 2, program, env=settings)
    assert finished.stdout == "0 wrong\n"
    assert "has no MPI_" not in finished.stderr
    barriers = call(result, "MPI_Barrier")
    assert barriers["taken"] > barriers["calls"] / 2
    # Statuses differ there, so what is completed later is the host's.
    for name in ("MPI_Isend", "MPI_Irecv"):
        assert call(result, name)["forwarded_why"]["unseen_completion"] > 0, name
    assert call(result, "MPI_Recv")["taken"] > 0
