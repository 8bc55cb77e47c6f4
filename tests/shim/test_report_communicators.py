"""What was done on which communicator, as the report has it and as the program counted it itself."""

import collections

import hosts
import pytest
from shim_programs import OUT, build, report

pytestmark = pytest.mark.sampled_hosts
HOSTS = list(hosts.HOSTS)
WITH_FORTRAN = [
    (name, interface)
    for name, host in hosts.HOSTS.items()
    for interface in ("mpi", "mpi_f08")
    if interface in host.fortran_interfaces
]


def counted(finished):
    """(name, ranks): [calls, bytes] of all ranks."""
    sums = collections.defaultdict(lambda: [0, 0])
    for line in finished.stdout.splitlines():
        name, ranks, *numbers = line.split(";")
        for i, number in enumerate(map(int, numbers)):
            sums[name, ranks][i] += number
    return dict(sums)


def reported(result):
    return {(one["name"], one["ranks"]): [one["calls"], one["bytes"]] for one in result["communicators"]}


@pytest.mark.parametrize("host", HOSTS)
@pytest.mark.parametrize("ranks, collectives", [(4, "always"), (5, "never")])
def test_each_by_name_and_ranks(host, ranks, collectives):
    program = build(host, "communicators.c", "-pthread")
    finished, result = report(host, ranks, program, env={"MILLRACE_COLLECTIVES": collectives})
    assert reported(result) == counted(finished)
    by_place = {(one["name"], one["ranks"]): one for one in result["communicators"]}
    everybody = f"0-{ranks - 1}"
    duplicates, solver = by_place["", everybody], by_place["solver", everybody]
    assert (duplicates["made"], duplicates["size"], duplicates["callers"]) == (51, ranks, ranks)
    assert (by_place["MPI_COMM_SELF", "each alone"]["size"], solver["made"]) == (1, 1)
    assert by_place["", f"0-1 with 2-{ranks - 1}"]["size"] == ranks
    assert (solver["taken"] > 0) == (collectives == "always")
    times = [one["time_ns"] for one in result["communicators"]]
    assert times == sorted(times, reverse=True) and 0 < sum(times) < result["total"]["time_ns"]
    for one in result["communicators"]:
        assert one["longest"]["time_ns"] <= one["time_ns"] <= one["longest"]["time_ns"] * one["callers"]


@pytest.mark.parametrize("host", HOSTS)
def test_threads(host):
    finished, result = report(host, 2, build(host, "communicators.c", "-pthread"), "threads")
    assert reported(result) == counted(finished)


@pytest.mark.parametrize("host, interface", WITH_FORTRAN)
def test_fortran(host, interface):
    flags = ["-cpp", "-fallow-argument-mismatch"] + (["-DF08"] if interface == "mpi_f08" else [])
    (OUT / host).mkdir(parents=True, exist_ok=True)
    _, result = report(host, 2, build(host, "communicators.F90", *flags, name=f"communicators_{interface}"))
    found = reported(result)
    assert found["from Fortran", "0-1"] == [2 * 40, 2 * 20 * 64]
    assert found["everybody", "0-1"] == [2, 0]
    assert found["MPI_COMM_WORLD", "0-1"] == [2, 0], "the copy was made before the name was given"
