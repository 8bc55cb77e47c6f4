"""Calls that go to the other side to be timed (shim/shared/measured_calls.h): by all ranks or by none, and right."""

import functools
import json

import hosts
import pytest
from shim_programs import build, call, report, run

pytestmark = pytest.mark.sampled_hosts

EITHER = ["Barrier", "Bcast", "Reduce", "Allreduce", "Gather", "Scatter", "Allgather", "Alltoall"]
SEED = 1313


def calls_for(host, ranks):
    """MPICH by itself needs tens of milliseconds a call when ranks outnumber cores."""
    return 1500 if host in ("mpich4", "mpich5", "abi") and ranks > 2 else 20000


def reasons(result, reason):
    entries = (call(result, f"MPI_{name}") for name in EITHER)
    return sum(entry["forwarded_why"].get(reason, 0) for entry in entries if entry)


def lines(finished):
    """One for each rank: how many were wrong, and what all sums of doubles were."""
    return sorted(finished.check().stdout.splitlines())


@pytest.mark.parametrize("ranks", [2, 3, 5])
@pytest.mark.parametrize("host", hosts.HOSTS)
def test_ranks_go_the_same_way(host, ranks):
    """Whoever goes another way than the rest hangs, or gets other data."""
    calls = calls_for(host, ranks)
    finished, result = report(
        host, ranks, build(host, "measured_calls.c"), SEED + ranks, calls, env={"MILLRACE_MEASURE": "always"}
    )
    assert all(" 0 wrong," in line for line in lines(finished)) and len(lines(finished)) == ranks
    # How often hangs on how soon times are believed: once in 20 to 25 calls here, in 50 beside a compiler.
    assert reasons(result, "tried") > calls * ranks / 100


@pytest.mark.full
@pytest.mark.parametrize("ranks", [2, 3, 4, 7])
@pytest.mark.parametrize("host", ["openmpi4", "openmpi5", "intel"])
def test_a_million_calls(host, ranks):
    calls = 1_000_000 if ranks == 2 else 200_000
    program = build(host, "measured_calls.c")
    env = {"MILLRACE_MEASURE": "always"}
    if host == "intel":
        env["I_MPI_COLL_INTRANODE"] = "pt2pt"  # its own bcasts in shared memory bring wrong bytes on five ranks
    finished = run(host, ranks, program, SEED, calls, env=env, timeout=1500)
    assert all(" 0 wrong," in line for line in lines(finished))


@pytest.mark.parametrize("host", ["openmpi4", "openmpi5", "intel"])
def test_sums_of_doubles_are_the_same_bits(host):
    """Whatever was tried, and found to be faster: they are never done by the other side for that."""
    program = build(host, "measured_calls.c")
    digests = {tuple(lines(run(host, 3, program, SEED, 4000, env={"MILLRACE_MEASURE": when})))
               for when in ("never", "auto", "always", "always")}  # fmt: skip
    assert len(digests) == 1


@pytest.mark.parametrize("host", hosts.HOSTS)
def test_where_hosts_differ_nothing_is_tried(host):
    """MPICH 4 compares unsigned integers as signed ones, Open MPI saturates: no run may have some of each."""
    finished = run(host, 2, build(host, "differing_hosts.c"), 600, env={"MILLRACE_MEASURE": "always"})
    assert finished.check().stdout == "0 wrong\n"


@pytest.mark.parametrize("host", ["openmpi4", "mpich4"])
def test_trying_has_a_budget(host):
    """A hundredth of the calls of a process, and 16."""
    calls = 20000
    program = build(host, "measured_calls.c")
    _, result = report(host, 2, program, SEED, calls)
    assert reasons(result, "tried") <= 2 * (16 + 4 + calls / 100)
    _, result = report(host, 2, program, SEED, calls, env={"MILLRACE_MEASURE": "never"})
    assert reasons(result, "tried") == reasons(result, "host_was_faster") == 0


@pytest.mark.parametrize("host", ["mpich4", "mpich5"])
def test_what_was_saved(host):
    """Where the host needs milliseconds a call and we need microseconds there is no doubt.

    In one launch of thirty the machine gives so little time that there is some, and the report is right to say so.
    """
    program = build(host, "measured_calls.c")
    for _ in range(3):
        _, result = report(host, 4, program, SEED, 5000, env={"MILLRACE_MEASURE": "always"})
        barrier, total = call(result, "MPI_Barrier"), result["total"]["saved"]
        assert 0 < barrier["saved"]["calls"] <= barrier["taken"]
        assert barrier["saved"]["error_ns"] > 0
        if is_certain := barrier["saved"]["time_ns"] > 3 * barrier["saved"]["error_ns"]:
            break
    assert is_certain
    assert total["calls"] == sum(entry["saved"]["calls"] for entry in result["calls"]) > barrier["saved"]["calls"]
    assert abs(total["time_ns"] - sum(entry["saved"]["time_ns"] for entry in result["calls"])) <= len(result["calls"])
    _, result = report(host, 4, program, SEED, 100, env={"MILLRACE_MEASURE": "never"})
    assert result["total"]["saved"] == {"calls": 0, "time_ns": 0, "error_ns": 0}


@functools.cache
def ends_by_itself(host, program):
    return not run(host, 3, program, 0, millrace=False, timeout=20).timed_out


@pytest.mark.parametrize("first", [0, 15, 25, 33, 40, 200])
@pytest.mark.parametrize("host", ["openmpi4", "openmpi5", "mpich4", "intel"])
def test_a_rank_that_expects_more(host, first):
    """Its calls are of another class than those of the others; it must go where they go. On some processors Intel MPI
    chooses so that such a rank waits for ever, and so it does where a call is left to it."""
    program = build(host, "uneven_bcast.c")
    if host == "intel" and not ends_by_itself(host, program):
        pytest.skip("Intel MPI by itself does not come to an end")
    for when in "auto", "always":
        finished = run(host, 3, program, first, env={"MILLRACE_MEASURE": when}, timeout=60)
        assert finished.check().stdout == "0 wrong\n"


@pytest.mark.parametrize("host", [host for host in hosts.HOSTS if host not in ("mpich5", "abi")])
def test_a_root_that_runs_ahead(host):
    """Nobody waits to tell the others what he has measured. MPICH 5's own root waits for the others."""
    for when in "auto", "always":
        finished = run(host, 3, build(host, "runs_ahead.c"), env={"MILLRACE_MEASURE": when}, timeout=60)
        assert finished.check().stdout == "done\n"


@pytest.mark.parametrize("when", ["never", "auto"])
@pytest.mark.parametrize("ranks", [2, 3])
@pytest.mark.parametrize("host", hosts.HOSTS)
def test_the_same_words_of_other_things(host, ranks, when, tmp_path):
    """What was refused is remembered by its words: never where they may come to stand for something else."""
    names = {"openmpi4": "Open MPI 4", "openmpi5": "Open MPI 5", "mpich4": "MPICH 4", "mpich5": "MPICH 5",
             "intel": "Intel MPI 2021", "abi": "MPICH 5"}  # fmt: skip
    table = tmp_path / "table.json"
    small = {kind: [1, 64] for kind in ("gather", "bcast", "allreduce", "barrier")}
    table.write_text(json.dumps({"millrace_tuning": 1, "left_to_host": {names[host]: small}}))
    environment = {"MILLRACE_TUNING": table, "MILLRACE_MEASURE": when}
    turns = 60 if ranks > 2 and host in ("mpich4", "mpich5", "abi") else 400
    finished = run(host, ranks, build(host, "refused_calls.c"), turns, env=environment)
    assert finished.check().stdout == "0 wrong\n"
    assert finished.stderr == ""
