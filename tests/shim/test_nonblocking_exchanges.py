"""Nonblocking and persistent collectives of derived datatypes, packed by us: the bytes of the host's blocking ones."""

import hosts
import pytest
from shim_programs import build, call, check_done, report, run

pytestmark = pytest.mark.sampled_hosts

NAMES = (
    "Bcast", "Gather", "Gatherv", "Scatter", "Scatterv", "Allgather", "Allgatherv", "Alltoall", "Alltoallv",
    "Alltoallw", "Neighbor_allgather", "Neighbor_allgatherv", "Neighbor_alltoall", "Neighbor_alltoallv",
    "Neighbor_alltoallw",
)  # fmt: skip
CALLS = [f"MPI_I{name.lower()}" for name in NAMES]
PERSISTENT = [f"MPI_{name}_init" for name in NAMES]
SEED = 977
# What the program does not call because the host alone gets it wrong, or of which only the sending side is ours.
ALLGATHERV = ["MPI_Iallgatherv", "MPI_Allgatherv_init"]
HOSTS_OWN = {
    "intel": ["MPI_Igather", *ALLGATHERV], "mpich4": ALLGATHERV, "mpich5": ALLGATHERV, "abi": ALLGATHERV,
}  # fmt: skip
# Around the host's own calls: else they would be done in shared memory.
ALWAYS = {"MILLRACE_LAYOUTS": "always", "MILLRACE_COLLECTIVES": "never"}
SHARED = {"MILLRACE_LAYOUTS": "always"}
# The program compares with PMPI_ calls, on all ranks alike.
ALIKE = {**SHARED, "MILLRACE_COLLECTIVES": "always", "MILLRACE_PMPI": "alike"}


def program(host):
    return build(host, "nonblocking_exchanges.cpp", "-std=c++20")


def taken(result, name):
    counts = call(result, name)
    return counts is not None and "layout_collective" in [one["name"] for one in counts["algorithms"]]


RUNS = [("openmpi4", ranks) for ranks in (2, 3, 4, 5)] + [(host, 2) for host in hosts.HOSTS if host != "openmpi4"]


@pytest.mark.parametrize("host, ranks", RUNS)
def test_random_calls(host, ranks):
    finished, result = report(host, ranks, program(host), SEED + ranks, 500, "each", 1 << 15, env=ALWAYS, timeout=240)
    assert finished.stdout == "done\n"
    expected = CALLS if host in ("openmpi4", "mpich4", "intel") else CALLS + PERSISTENT
    untaken = [name for name in expected if not taken(result, name) and name not in HOSTS_OWN.get(host, [])]
    assert untaken == []


@pytest.mark.parametrize("host, ranks", RUNS)
def test_some_ranks_leave_calls_to_the_host(host, ranks):
    finished = run(host, ranks, program(host), SEED, 120, "all", 1 << 17, "mixed", env=ALWAYS, timeout=240)
    assert finished.check().stdout == "done\n"


@pytest.mark.parametrize("host, ranks", RUNS)
def test_in_shared_memory(host, ranks):
    for mixed in "alike", "mixed":
        finished = run(host, ranks, program(host), SEED, 120, "all", 1 << 17, mixed, env=SHARED, timeout=240)
        assert finished.check().stdout == "done\n"


def shared(result, name):
    counts = call(result, name)
    return {one["name"] for one in counts["algorithms"] if one["name"].startswith("shared_")} if counts else set()


@pytest.mark.parametrize("host, ranks", RUNS)
def test_neighbors_in_shared_memory(host, ranks):
    finished, result = report(host, ranks, program(host), SEED, 300, "all", 1 << 15, env=ALIKE, timeout=240)
    assert finished.stdout == "done\n"
    for name in (name for name in CALLS if "neighbor" in name):
        assert shared(result, name) == {f"shared_neighbor_{'allgather' if 'allgather' in name else 'alltoall'}"}, name


@pytest.mark.parametrize("host, ranks", [("openmpi5", 2), ("openmpi5", 3), ("mpich5", 2), ("abi", 2)])
def test_persistent_in_shared_memory(host, ranks):
    finished, result = report(
        host, ranks, program(host), SEED, 120, "each", 1 << 15, "alike", 20, env=ALIKE, timeout=240
    )
    assert finished.stdout == "done\n"
    kinds = ("bcast", "gather", "scatter", "allgather", "alltoall", "neighbor_allgather", "neighbor_alltoall")
    assert shared(result, "MPI_Start") == {f"shared_{kind}" for kind in kinds}


@pytest.mark.full
@pytest.mark.parametrize("seed, mixed", [(1, "alike"), (3, "mixed")])
@pytest.mark.parametrize("ranks", [2, 3, 4, 5])
@pytest.mark.parametrize("host", list(hosts.HOSTS))
def test_many_random_calls(host, ranks, seed, mixed):
    """MPICH by itself needs tens of milliseconds a call when ranks outnumber cores."""
    batches = 500 if ranks == 2 or host.startswith("openmpi") else 40
    check_done(host, ranks, program(host), seed, batches, "all", 1 << 19, mixed, env=ALWAYS, timeout=900)


def test_the_host_alone_passes_the_same_test():
    assert run("openmpi4", 3, program("openmpi4"), SEED, 60, millrace=False).check().stdout == "done\n"


def test_left_to_the_host():
    settings = {**ALWAYS, "MILLRACE_DISABLE": "Ialltoall,Ibcast"}
    _, result = report("openmpi4", 2, program("openmpi4"), SEED, 100, env=settings)
    for name in ("MPI_Ialltoall", "MPI_Ibcast"):
        assert call(result, name)["taken"] == 0
        assert call(result, name)["forwarded_why"]["disabled"] > 0
    _, result = report("openmpi4", 2, program("openmpi4"), SEED, 100, env={**ALWAYS, "MILLRACE_LAYOUTS": "never"})
    assert all(call(result, name)["taken"] == 0 for name in CALLS)
    assert call(result, "MPI_Ialltoallv")["forwarded_why"]["host_is_faster"] > 0


@pytest.mark.parametrize("host", list(hosts.HOSTS))
def test_numbers_of_two_sizes_beside_a_vector(host):
    finished, result = report(host, 3, build(host, "nonblocking_mixed.c"), env=ALWAYS)
    assert finished.stdout == "0 wrong\n"
    assert taken(result, "MPI_Ialltoallw")
