"""Gather, scatter, allgather, alltoall and their neighbourhood forms through shared memory: the bytes of the host."""

import hosts
import pytest
from shim_programs import build, call, check_done, report, run

CALLS = [
    f"MPI_{name}"
    for name in (
        "Gather", "Gatherv", "Scatter", "Scatterv", "Allgather", "Allgatherv", "Alltoall", "Alltoallv", "Alltoallw",
        "Neighbor_allgather", "Neighbor_allgatherv", "Neighbor_alltoall", "Neighbor_alltoallv", "Neighbor_alltoallw",
    )
]  # fmt: skip
SEED = 8410
# Also where the host is faster, and although the program compares with PMPI.
EVERYTHING = {"MILLRACE_COLLECTIVES": "always", "MILLRACE_PMPI": "alike"}


def program(host):
    return build(host, "exchanges.cpp", "-std=c++20")


@pytest.mark.parametrize(
    "host, ranks, calls",
    [("openmpi4", ranks, 300) for ranks in (3, 4, 5)] + [(host, 2, 300) for host in hosts.HOSTS],
)
def test_random_calls(host, ranks, calls):
    finished, result = report(host, ranks, program(host), SEED + ranks, calls, env=EVERYTHING)
    assert finished.stdout == "done\n"
    for name in CALLS:
        assert call(result, name)["taken"] > 0, name
    # Some of the topologies have neighbours twice, and their order is the host's.
    assert call(result, "MPI_Neighbor_alltoall")["forwarded_why"]["repeated_neighbors"] > 0


def test_one_rank():
    assert run("openmpi4", 1, program("openmpi4"), SEED, 100, env=EVERYTHING).check().stdout == "done\n"


@pytest.mark.full
@pytest.mark.parametrize("seed", range(1, 3))
@pytest.mark.parametrize("ranks", [2, 3, 4, 5])
@pytest.mark.parametrize("host", list(hosts.HOSTS))
def test_many_random_calls(host, ranks, seed):
    """MPICH by itself needs tens of milliseconds a call when ranks outnumber cores, and takes longer messages for
    truncated when the types of the two sides differ."""
    calls = 1000 if ranks == 2 or host in ("openmpi4", "openmpi5", "intel") else 100
    most_bytes = 1 << 20 if host in ("openmpi4", "openmpi5", "intel") else 1 << 13
    check_done(host, ranks, program(host), seed, calls, "all", most_bytes, env=EVERYTHING, timeout=900)


def test_the_host_alone_passes_the_same_test():
    assert run("openmpi4", 3, program("openmpi4"), SEED, 100, millrace=False).check().stdout == "done\n"


@pytest.mark.parametrize("host", list(hosts.HOSTS))
def test_wrong_arguments(host):
    """What the host says of them it says under Millrace, too."""
    finished = run(host, 2, build(host, "exchange_errors.c"), env=EVERYTHING)
    assert finished.check().stdout == "done\n"


def test_disabled():
    settings = {**EVERYTHING, "MILLRACE_DISABLE": "Alltoallw,Gather"}
    _, result = report("openmpi4", 2, program("openmpi4"), SEED, 200, env=settings)
    for name in ("MPI_Alltoallw", "MPI_Gather"):
        counts = call(result, name)
        assert counts["taken"] == 0
        assert counts["forwarded_why"] == {"disabled": counts["calls"]}
    assert call(result, "MPI_Alltoallv")["taken"] > 0


INTERFACES = [
    (name, interface)
    for name, host in hosts.HOSTS.items()
    for interface in ("mpi", "mpi_f08")
    if interface in host.fortran_interfaces
]
FROM_FORTRAN = [f"MPI_{name}" for name in ("Alltoall", "Alltoallv", "Alltoallw", "Allgather", "Gather", "Gatherv")]


@pytest.mark.parametrize("host, interface", INTERFACES)
def test_from_fortran(host, interface):
    flags = ["-cpp", "-fallow-argument-mismatch"] + (["-DF08"] if interface == "mpi_f08" else [])
    if (host, interface) == ("mpich4", "mpi_f08"):
        flags.append("-DNO_NEIGHBOR_ALLTOALLW")  # asks for a distributed graph by itself, whatever the topology
    fortran = build(host, "exchange_fortran.F90", *flags, name=f"exchange_fortran_{interface}")
    assert run(host, 3, fortran, millrace=False).check().stdout.strip() == "done"
    finished, result = report(host, 3, fortran, env=EVERYTHING)
    assert finished.stdout.strip() == "done"
    for name in FROM_FORTRAN:
        assert call(result, name)["taken"] > 0, name
