"""MPI_Reduce_local: the right bits from every unit of kernels, and the host's own errors."""

import json
import platform
import subprocess

import hosts
import pytest
from shim_programs import build, call, report, run

EVERY_HOST = list(hosts.HOSTS)


def usable_units():
    info = json.loads(subprocess.run([hosts.MILLRACE, "info", "--json"], capture_output=True, check=True).stdout)
    return [unit["name"] for unit in info["isa"]["units"] if unit["usable"]]


@pytest.mark.parametrize("host", EVERY_HOST)
def test_same_bits_as_the_reference_in_every_unit(host):
    program = build(host, "reduce_local.cpp", "-lm")
    for unit in usable_units():
        finished, result = report(host, 1, program, env={"MILLRACE_ISA": unit})
        verdict, comparisons = finished.stdout.split()
        assert verdict == "same"
        entry = call(result, "MPI_Reduce_local")
        assert entry["taken"] == entry["calls"] == int(comparisons)
        assert result["by_rank"][0]["isa"] == unit  # the unit that was asked for is the one that ran


def test_an_mpi_5_library_that_does_not_return_from_errors():
    """Intel's ends the program when it is asked for an optional type, so it is not asked."""
    if missing := hosts.get("abi-intel").missing():
        pytest.skip(missing)
    finished, result = report("abi-intel", 1, build("abi-intel", "reduce_local.cpp", name="reduce_local"))
    entry = call(result, "MPI_Reduce_local")
    assert finished.stdout.startswith("same ")
    assert entry["taken"] == entry["calls"] == int(finished.stdout.split()[1])


@pytest.mark.parametrize("host", ["mpich4", "mpich5", "intel", "abi"])  # Open MPI has no large counts
def test_large_count_form(host):
    program = build(host, "reduce_local.cpp", "-DLARGE", "-lm", name="reduce_local_c")
    finished, result = report(host, 1, program)
    assert finished.stdout.startswith("same ")
    entry = call(result, "MPI_Reduce_local_c")
    assert entry["taken"] == entry["calls"] == int(finished.stdout.split()[1])


@pytest.mark.parametrize("host", EVERY_HOST)
def test_errors_are_the_hosts_own(host):
    program = build(host, "errors.c")
    plain = run(host, 1, program, millrace=False).check()
    ours = run(host, 1, program).check()
    assert ours.stdout == plain.stdout
    assert "fine: 0" in plain.stdout


@pytest.mark.parametrize("host", EVERY_HOST)
def test_what_is_refused_is_counted_with_its_reason(host):
    _, result = report(host, 1, build(host, "refused.c"))
    entry = call(result, "MPI_Reduce_local")
    assert entry["taken"] == 1
    expected = {"invalid_argument": 1, "type_not_covered": 1, "op_not_covered": 1, "buffers_overlap": 1}
    if platform.machine() == "x86_64":  # x87 has no vectors
        expected["host_is_faster"] = 1
    assert entry["forwarded_why"] == expected


@pytest.mark.parametrize("host", EVERY_HOST)
def test_threads_that_name_a_datatype_first(host):
    """The host is asked about a datatype when a call first names it, by whichever thread that is."""
    program = build(host, "first_uses.c", "-pthread")
    for _ in range(5):
        finished, result = report(host, 1, program)
        assert finished.stdout == "576 calls, 0 wrong\n"
        entry = call(result, "MPI_Reduce_local")
        assert entry["taken"] == entry["calls"] == 576


@pytest.mark.parametrize("ranks", [1, 2])
@pytest.mark.parametrize("host", EVERY_HOST)
def test_the_function_of_an_op_names_a_datatype_first(host, ranks):
    """Intel MPI holds a lock meanwhile, for which a thread waited that asked it, and for which the function waited."""
    finished = run(host, ranks, build(host, "op_that_asks.c", "-pthread"))
    assert finished.stdout == "0 wrong\n" * ranks


@pytest.mark.parametrize("disabled", ["Reduce_local", "MPI_Reduce_local", "sum_f32"])
def test_disabled_calls_and_kernels_go_to_the_host(disabled):
    _, result = report("openmpi4", 1, build("openmpi4", "calls.c"), env={"MILLRACE_DISABLE": disabled})
    entry = call(result, "MPI_Reduce_local")
    assert entry["taken"] == 0
    assert entry["forwarded_why"] == {"disabled": 6}


def test_unknown_settings_are_said_once_by_rank_0():
    program = build("openmpi4", "calls.c")
    env = {"MILLRACE_REPROT": "1", "MILLRACE_ISA": "mmx", "MILLRACE_DISABLE": "sum_f23"}
    lines = run("openmpi4", 2, program, env=env).check().stderr.splitlines()
    said = [line for line in lines if line.startswith("millrace")]
    assert len(said) == 3, said
    assert any("MILLRACE_REPROT" in line and "MILLRACE_REPORT" in line for line in said)
    assert any("MILLRACE_ISA=mmx" in line for line in said)
    assert any("sum_f23" in line for line in said)


MODULES = {"mpif.h": 0, "mpi": 1, "mpi_f08": 2}
FORTRAN = [(name, interface) for name, host in hosts.HOSTS.items() for interface in host.fortran_interfaces]


@pytest.mark.parametrize("host,interface", FORTRAN)
def test_fortran(host, interface):
    module = MODULES[interface]
    flags = ["-cpp", f"-DMODULE={module}", "-fallow-argument-mismatch"]
    program = build(host, "reduce_local.f90", *flags, name=f"reduce_local_fortran_{module}")
    plain = run(host, 1, program, millrace=False).check()
    finished, result = report(host, 1, program)
    assert finished.stdout == plain.stdout
    assert call(result, "MPI_Reduce_local")["calls"] == 2
    assert call(result, "MPI_Reduce_local")["taken"] == 2
    assert call(result, "MPI_Barrier")["calls"] == 1
    assert call(result, "MPI_Allreduce")["calls"] == 1
    assert call(result, "MPI_Init")["calls"] == 1
