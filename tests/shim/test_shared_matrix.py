"""Collectives over all axes against a left fold that no MPI computed; under stress; by several threads."""

import itertools

import hosts
import pytest
from shim_programs import build, call, report, run

COLLECTIVES = ["MPI_Barrier", "MPI_Bcast", "MPI_Reduce", "MPI_Allreduce"]
SCATTERING = ["MPI_Reduce_scatter_block", "MPI_Scan", "MPI_Exscan"]
SEED = 77
MIB = 1 << 20
TREES = "barrier=tree,bcast=tree,reduce=tree,allreduce=tree"
FORCED = {
    "chosen": {},
    "cells": {
        "MILLRACE_ALGORITHM": "barrier=cells,bcast=cells,reduce=cells,allreduce=cells,"
        "reduce_scatter=cells,scan=cells,exscan=cells"
    },
    "chunks": {
        "MILLRACE_ALGORITHM": "barrier=cells,bcast=chunks,reduce=chunks,allreduce=slices,"
        "reduce_scatter=slices,scan=chain,exscan=chain"
    },
    "slices": {"MILLRACE_ALGORITHM": "reduce=slices,allreduce=pair,barrier=pair"},
    "chain": {"MILLRACE_ALGORITHM": "bcast=single_copy,reduce=chain,allreduce=chain"},
    # As where many ranks have a core each.
    "mesh": {
        "MILLRACE_ALGORITHM": "barrier=mesh,reduce=mesh,allreduce=mesh,reduce_scatter=mesh,"
        "scan=gathered,exscan=gathered"
    },
    # In rank order, so that what is rounded does not go along the tree; Barrier and Bcast do.
    "tree": {"MILLRACE_ALGORITHM": TREES, "MILLRACE_ORDER": "rank", "MILLRACE_TREE": "kary:2,socket"},
}
# None left to a host that adds in another order: tables leave some sizes to it where ranks share cores.
FORCED = {name: {"MILLRACE_COLLECTIVES": "always", **environment} for name, environment in FORCED.items()}
WAITING = ["auto", "spin", "yield", "sleep"]


def matrix(host):
    return build(host, "shared_matrix.c", "-ffp-contract=off")


def check(host, ranks, one_of, most_bytes, environment, timeout=300, seed=SEED):
    """`one_of`: how many points of the product make one call; those that a value of an axis needs are always made."""
    arguments = [matrix(host), seed, one_of, most_bytes, "ours"]
    environment = {"MILLRACE_PMPI": "alike", **environment}
    finished, result = report(host, ranks, *arguments, env=environment, timeout=timeout)
    assert finished.stdout.startswith("done "), finished.stdout
    for name in [*COLLECTIVES, *SCATTERING, "MPI_Reduce_scatter"] if ranks > 1 else []:
        assert call(result, name)["taken"] > 0, name
    return int(finished.stdout.split()[1])


@pytest.mark.parametrize("host", list(hosts.HOSTS))
def test_each_value_of_each_axis(host):
    assert check(host, 2, 10**6, 2 * MIB, {}) > 100


@pytest.mark.parametrize(
    "waiting, forced",
    [
        ("spin", "slices"),
        ("sleep", "chunks"),
        ("yield", "tree"),
        ("auto", "cells"),
        ("auto", "chain"),
        ("auto", "mesh"),
    ],
)
def test_forced(waiting, forced):
    check("openmpi4", 3, 10**6, 2 * MIB, {"MILLRACE_WAIT": waiting, **FORCED[forced]})


@pytest.mark.parametrize("host", ["openmpi5", "mpich5"])
def test_as_among_many_ranks(host):
    check(host, 7, 3 * 10**6, MIB, {"MILLRACE_WAIT": "sleep", **FORCED["mesh"]})


@pytest.mark.parametrize("seed", [1, 5])
@pytest.mark.parametrize("host", ["openmpi4", "openmpi5"])
def test_in_rank_order_whatever_the_tables_say(host, seed):
    """They leave Reduce_scatter of some sizes to these hosts, which add in another order."""
    check(host, 3, 10**6, 2 * MIB, {"MILLRACE_ORDER": "rank"}, seed=seed)


def test_the_host_alone_passes_the_same_test():
    """The test would find fault with a host if it asked for too much. (MPICH 4.0 gets MIN of uint16_t wrong.)"""
    finished = run("openmpi4", 3, matrix("openmpi4"), SEED, 10**6, 2 * MIB, millrace=False).check()
    assert finished.stdout.startswith("done ")


def points():
    """(ranks, algorithms, waiting): all of the last two for some numbers of ranks, one way of waiting for others."""
    for ranks in [1, 2, 3, 4, 5, 6, 7, 8, 9, 16]:
        for index, forced in enumerate(FORCED):
            for waiting in WAITING if ranks in (2, 3, 9) else [WAITING[(ranks + index) % len(WAITING)]]:
                yield ranks, forced, waiting


@pytest.mark.full
@pytest.mark.parametrize("ranks, forced, waiting", list(points()))
def test_the_matrix(ranks, forced, waiting):
    """All of it with the algorithms that are chosen; with others one call of so many; 40 MiB too."""
    one_of = 1 if forced == "chosen" else 20
    check("openmpi4", ranks, one_of, 40 * MIB, {"MILLRACE_WAIT": waiting, **FORCED[forced]}, 900)


@pytest.mark.full
@pytest.mark.parametrize("forced, waiting", list(zip(FORCED, itertools.cycle(WAITING))))
@pytest.mark.parametrize("host", [name for name in hosts.HOSTS if name != "openmpi4"])
def test_the_matrix_on_other_hosts(host, forced, waiting):
    """On two ranks: some of these hosts take milliseconds for a call when ranks outnumber cores."""
    check(host, 2, 10, 40 * MIB, {"MILLRACE_WAIT": waiting, **FORCED[forced]}, 900)


def stress(host, ranks, calls, delay_us=200, **options):
    program = build(host, "shared_stress.c")
    finished, result = report(host, ranks, program, SEED, calls, delay_us, **options)
    assert finished.stdout == "done\n"
    taken = sum(call(result, name)["taken"] for name in COLLECTIVES + SCATTERING)
    # On a quarter of the communicators that a rank draws it is alone, or not a member.
    assert taken > calls * ranks // 3


def test_overlapping_communicators():
    stress("openmpi4", 4, 10_000)


@pytest.mark.full
@pytest.mark.parametrize("waiting", WAITING)
def test_overlapping_communicators_for_long(waiting):
    calls = 1_000_000 if waiting == "auto" else 100_000
    stress("openmpi4", 4, calls, env={"MILLRACE_WAIT": waiting}, timeout=1800)


# Of the others, some by themselves do not get on when threads outnumber cores: two ranks of two threads, few calls.
THREADS = [("openmpi4", 3, 3, 1000), ("openmpi5", 2, 2, 300), ("mpich4", 2, 2, 300), ("intel", 2, 2, 300)]


def threads(host, ranks, count, calls, renewals=2):
    program = build(host, "shared_threads.c", "-pthread")
    finished, result = report(host, ranks, program, count, calls, renewals, timeout=600)
    if finished.stdout == "no threads\n":
        pytest.skip(f"{host} has no MPI_THREAD_MULTIPLE")
    assert finished.stdout == "done\n"
    for name in COLLECTIVES:
        assert call(result, name)["taken"] > 0, name


@pytest.mark.parametrize("host, ranks, count, calls", THREADS)
def test_threads(host, ranks, count, calls):
    threads(host, ranks, count, calls)


def test_threads_that_make_communicators_of_the_same_ranks():
    """Two of them must not get the memory that one of the same ranks has left."""
    threads("openmpi4", 3, 3, 900, renewals=30)


@pytest.mark.full
@pytest.mark.parametrize("count", [2, 3])
@pytest.mark.parametrize(
    "host, ranks, calls", [("openmpi4", 4, 30000), ("openmpi5", 3, 10000), ("mpich4", 2, 3000), ("intel", 2, 3000)]
)
def test_threads_for_long(host, ranks, calls, count):
    threads(host, ranks, count, calls)
