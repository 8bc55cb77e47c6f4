"""Who came last to collectives, and how long the others waited for it: the report beside the program's own clocks."""

import hosts
import pytest
from shim_programs import build, report

pytestmark = pytest.mark.sampled_hosts
HOSTS = list(hosts.HOSTS)
RANKS = 3
CALLS = 10  # to which the late rank came 5 ms late
NAMES = {"reduce": "MPI_Reduce", "bcast": "MPI_Bcast", "scan": "MPI_Scan"}


def run_late(host, which, late, ranks=RANKS):
    """The report's line of these calls, the whole report, and what each rank says: {rank: (waited ns, last in)}."""
    finished, result = report(host, ranks, build(host, "late_ranks.c"), which, late)
    said = {}
    for line in finished.stdout.splitlines():
        rank, waited, last = map(int, line.split())
        said[rank] = (waited, last)
    assert len(said) == ranks
    name = NAMES.get(which, "MPI_Allreduce")
    return [wait for wait in result["waits"] if wait["name"] == name], result, said


def near(waited_ns):
    """A rank may lose its core between its own look at the clock and the call."""
    return pytest.approx(waited_ns, rel=0.25, abs=10e6)


@pytest.mark.parametrize("late", [0, 2])
@pytest.mark.parametrize("host", HOSTS)
def test_the_rank_that_came_last_is_named(host, late):
    (wait,), result, said = run_late(host, "allreduce", late)
    assert (wait["communicator"], wait["compared"]) == ("MPI_COMM_WORLD", CALLS)
    assert wait["wait_ns"] == near(sum(waited for waited, _ in said.values()))
    assert wait["wait_ns"] <= wait["time_ns"]
    first = wait["late_ranks"][0]
    assert first["rank"] == late
    assert first["caused_ns"] > 0.7 * wait["wait_ns"]
    assert abs(first["late_calls"] - said[late][1]) <= 1
    by_rank = {rank["rank"]: rank for rank in result["late_ranks"]}
    assert result["late_ranks"][0]["rank"] == late
    for rank, (waited, _) in said.items():
        assert by_rank[rank]["wait_ns"] >= waited - 10e6, "the barriers between come on top of it"


@pytest.mark.parametrize("host", HOSTS)
def test_receivers_wait_for_the_root_and_for_no_other(host):
    (wait,), _, said = run_late(host, "bcast", 0)
    assert wait["late_ranks"][0]["rank"] == 0
    assert wait["wait_ns"] == near(sum(waited for waited, _ in said.values()))
    (wait,), _, _ = run_late(host, "bcast", 1)
    assert all(rank["rank"] == 0 for rank in wait["late_ranks"] if rank["caused_ns"] > 0)
    assert wait["wait_ns"] < CALLS * 2.5e6, "nobody waits for a receiver"


@pytest.mark.parametrize("which, late", [("reduce", 1), ("scan", 0)])
@pytest.mark.parametrize("host", HOSTS)
def test_who_needs_the_late_rank_waits(host, which, late):
    waits, _, said = run_late(host, which, late)
    assert len(waits) == 1
    assert waits[0]["wait_ns"] == near(sum(waited for waited, _ in said.values()))
    assert waits[0]["late_ranks"][0]["rank"] == late


@pytest.mark.parametrize("host", HOSTS)
def test_communicators_are_told_apart_by_their_ranks(host):
    waits, result, said = run_late(host, "split", 3, ranks=4)
    by_ranks = {wait["communicator"]: wait for wait in waits}
    assert set(by_ranks) == {"ranks 0,2", "ranks 1,3"}
    odd = by_ranks["ranks 1,3"]
    assert odd["late_ranks"][0]["rank"] == 3, "of the world"
    assert odd["wait_ns"] == near(said[1][0] + said[3][0])
    assert result["late_ranks"][0]["rank"] == 3
