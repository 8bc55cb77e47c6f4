"""When ranks of several nodes agree: what they make then takes as long as some hundred small calls of the host."""

import json

import pytest
from shim_programs import OUT, build, run

PRETENDED = {"MILLRACE_NODES": "always", "MILLRACE_PMPI": "alike", "MILLRACE_NODE_SPLIT": "2+2"}
MIB = 1 << 20


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
