"""When ranks agree: what they make then takes as long as some hundred small calls of the host."""

import json
import os

import pytest
from shim_programs import OUT, build, run

# The default, not that of tests (tests/conftest.py).
DEFAULT = {"MILLRACE_AGREE_AFTER": None}
PRETENDED = {**DEFAULT, "MILLRACE_NODES": "always", "MILLRACE_PMPI": "alike", "MILLRACE_NODE_SPLIT": "2+2"}
MIB = 1 << 20


def taken_here(host, ranks, size, calls, how="", call="MPI_Allreduce", **env):
    """On one node: of a rank's calls."""
    path = OUT / "worth.json"
    env = {**DEFAULT, "MILLRACE_PMPI": "alike", "MILLRACE_MEASURE": "never", "MILLRACE_REPORT": str(path), **env}
    run(host, ranks, build(host, "equal_calls.c"), size, calls, how, env=env).check()
    (counts,) = [each["taken"] for each in json.loads(path.read_text())["calls"] if each["name"] == call]
    assert counts % ranks == 0, "all take the same calls"
    return counts / ranks


def test_few_calls_on_one_node_are_not_worth_it(host):
    if len(os.sched_getaffinity(0)) < 2:
        pytest.skip("two ranks are more than there are processors")
    assert taken_here(host.name, 2, 8, 224) == 0
    assert taken_here(host.name, 2, MIB, 2) == 0


@pytest.mark.parametrize(
    "size, calls, first, env",
    [
        (8, 1200, 226, {}),
        (64 << 10, 300, 26, {}),
        (MIB, 70, 6, {}),
        (8, 100, 6, {"MILLRACE_COLLECTIVES": "always"}),
        (8, 100, 6, {"MILLRACE_ORDER": "rank"}),
        (8, 100, 6, {"MILLRACE_LEARN": str(OUT / "worth_learned.json"), "MILLRACE_MEASURE": None}),
        (8, 100, 6, {"MILLRACE_AGREE_AFTER": 0}),
        (8, 600, 42, {"MILLRACE_AGREE_AFTER": 40}),
    ],
)
def test_it_is_worth_it_on_one_node(size, calls, first, env):
    """Joining is a call, and what follows is proposed for one that all come to: the 9th, 17th, 33rd and so on. Who does
    not see that in time is waited for twice as many calls later."""
    if len(os.sched_getaffinity(0)) < 2:
        pytest.skip("two ranks are more than there are processors")
    ours = taken_here("openmpi4", 2, size, calls, **env)
    assert ours > 0
    assert calls - ours >= first - 1


@pytest.mark.parametrize("how, call", [("begun", "MPI_Iallreduce"), ("prepared", "MPI_Start")])
def test_what_is_begun_or_prepared_weighs_what_it_moves(how, call):
    if len(os.sched_getaffinity(0)) < 2:
        pytest.skip("two ranks are more than there are processors")
    assert taken_here("mpich5", 2, 8, 200, how, call) == 0
    assert taken_here("mpich5", 2, MIB, 150, how, call) > 0


def test_more_ranks_than_processors_agree_at_once():
    """Their host waits for a slice of time in each call."""
    ranks = len(os.sched_getaffinity(0)) + 1
    assert taken_here("mpich4", ranks, 8, 150) > 0


def taken(size, calls, **env):
    """Of a rank's calls."""
    path = OUT / "nodes-worth.json"
    for old in OUT.glob(f"{path.stem}.*.json"):
        old.unlink()
    env = {**PRETENDED, "MILLRACE_MEASURE": "never", "MILLRACE_REPORT": str(path), **env}
    run("openmpi4", 4, build("openmpi4", "equal_calls.c"), size, calls, env=env).check()
    found = [json.loads(each.read_text()) for each in sorted(OUT.glob(f"{path.stem}.*.json"))]
    assert len(found) == 2
    counts = {call["taken"] for each in found for call in each["calls"] if call["name"] == "MPI_Allreduce"}
    assert len(counts) == 1, "two ranks of each node, and all take the same calls"
    return counts.pop() / 2


def test_a_few_small_calls_are_not_worth_it():
    assert taken(8, 256) == 0


@pytest.mark.parametrize(
    "size, calls, first, env",
    [
        (8, 1100, 257, {}),
        (64 << 10, 250, 33, {}),  # each gains as much as nine
        (MIB, 100, 17, {}),
        (8, 100, 17, {"MILLRACE_COLLECTIVES": "always"}),
        (8, 100, 17, {"MILLRACE_ORDER": "rank"}),  # until then it is the host's order
    ],
)
def test_it_is_worth_it(size, calls, first, env):
    """Proposed is the first call, or one after twice and four times as many, where letters took long."""
    ours = taken(size, calls, **env)
    assert ours > 0
    assert calls - ours >= first - 1
