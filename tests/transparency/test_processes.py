"""Programs that fork, are interrupted, spawn others, use sessions, or make every mistake: as without Millrace."""

import hosts
import pytest
from transparency import both, build, cases, lines, usable

pytestmark = pytest.mark.sampled_hosts

SESSIONS = ("openmpi5", "mpich5", "abi")
# Mistakes that these hosts do not survive by themselves.
NOT_SURVIVED = {"mpich4": "allreduce.count", **dict.fromkeys(("mpich5", "abi"), "reduce.type,allreduce.count")}


@cases(("_exit", 3), ("exit", 2), ("system", 3), ("thread", 2), ("kill", 3))
def test_a_rank_forks(host_name, case):
    host = usable(host_name)
    how, ranks = case
    ours = both(host, ranks, build(host, "forks.c", "-pthread"), how)
    assert ours.stdout.count(": 0 wrong") == ranks


@cases(("timer", 2), ("timer", 3), ("stop", 3), ("peers", 3))
def test_signals(host_name, case):
    host = usable(host_name)
    how, ranks = case
    program = build(host, "signals.c")
    ours = hosts.run(host, ranks, [program, how], millrace=True, timeout=60).check()
    assert ours.stdout.count(": 0 wrong") == ranks
    assert how == "stop" or ours.stdout.count("interrupted: yes") == ranks


@pytest.mark.parametrize("case", ["world", "alone"])
@pytest.mark.parametrize("name", SESSIONS)
def test_sessions(name, case):
    host = usable(name)
    ours = both(host, 2, build(host, "sessions.c"), case)
    assert ours.stdout.count(": 0 wrong") == 2


# MPICH 4 and Intel MPI by themselves cannot spawn here.
@pytest.mark.parametrize("name", ["openmpi4", "openmpi5", "mpich5", "abi"])
def test_spawned_processes(name):
    host = usable(name)
    ours = both(host, 2, build(host, "spawned.c"))
    assert lines(ours) == ["turn 0: 0 wrong", "turn 1: 0 wrong"]


# In this order MPICH 5 and its ABI library, which return success after a handler, meet handlers.
@cases(("return", 2), ("world", 2), ("return", 3), ("handler", 3), ("world", 3), ("handler", 2))
def test_every_mistake(host_name, case):
    host = usable(host_name)
    how, ranks = case
    ours = both(host, ranks, build(host, "error_classes.c"), how, NOT_SURVIVED.get(host_name, ""))
    assert ours.stdout.count(": 0 wrong") == 2 * ranks
