"""Something goes wrong, or late, in a broadcast over three nodes whose pieces follow each other
(src/shim/node/line_along.cpp)."""

import hosts
import nodes
import pytest
import shim_programs
from shim_programs import build

WHY_NOT = nodes.missing()
needs_nodes = pytest.mark.skipif(WHY_NOT is not None, reason=str(WHY_NOT))
OVER_NODES = {"MILLRACE_NODES": "always", "MILLRACE_COLLECTIVES": "always", "MILLRACE_MEASURE": "never"}
# Bcasts of 1 MiB: rank 3, of three nodes of two, passes them on, or gets them from its node, or is the root.
CALLS = {"passes_on": 117, "gets": 137, "is_root": 157}
BOUND_S = 30


@pytest.fixture(scope="module")
def made():
    with nodes.Nodes(3, own_ipc=True) as each:
        yield each


def run(made, what, call):
    program = [build("openmpi4", "nodes_faults.c"), what, CALLS[call], 3]
    return made.run("openmpi4", 2, program, millrace=True, env=OVER_NODES, timeout=BOUND_S)


@needs_nodes
@pytest.mark.parametrize("what", ["kill", "alarm", "kill_node"])
@pytest.mark.parametrize("call", CALLS)
def test_a_death_ends_the_job(made, what, call):
    finished = run(made, what, call)
    assert not finished.timed_out and finished.returncode != 0
    assert "wrong" not in finished.stdout and "done" not in finished.stdout


@needs_nodes
@pytest.mark.parametrize("call", CALLS)
def test_a_late_rank_is_waited_for(made, call):
    assert run(made, "late", call).check().stdout == "done\n"


# Of the four ranks each is the root of some; on the second node two share memory.
@pytest.mark.sampled_hosts
@pytest.mark.parametrize("host", hosts.HOSTS)
def test_what_arrives_is_right(host):
    program = build(host, "nodes_faults.c")
    env = {**OVER_NODES, "MILLRACE_NODE_SPLIT": "1+2+1"}
    finished = shim_programs.run(host, 4, program, "none", 0, 0, 140, env=env, timeout=120)
    assert finished.check().stdout == "done\n"


@pytest.mark.sampled_hosts
@pytest.mark.parametrize("what", ["sizes", "letters"])
@pytest.mark.parametrize("split", ["2+2", "1+2+1", "1+1+1+1"])
@pytest.mark.parametrize("host", hosts.HOSTS)
def test_pieces_are_all_there_whatever_their_sizes(host, split, what):
    program = build(host, "nodes_pieces.c")
    finished = shim_programs.run(
        host, 4, program, what, env={**OVER_NODES, "MILLRACE_NODE_SPLIT": split}, timeout=120
    )
    assert finished.check().stdout == "done\n"


# What is sent without being asked for is kept by a host whose rank is busy elsewhere: two blocks of 1 MiB at most.
@needs_nodes
@pytest.mark.parametrize("each", [64 << 20, 126000])
def test_who_comes_late_keeps_little(made, each):
    program = [build("openmpi4", "nodes_pieces.c"), "early", 2, each]
    finished = made.run("openmpi4", 2, program, millrace=True, env=OVER_NODES, timeout=BOUND_S).check()
    lines = finished.stdout.splitlines()
    kept_kib = [int(line.split()[1]) for line in lines if line.startswith("kept")]
    assert len(kept_kib) == 4 and "done" in lines and "wrong" not in finished.stdout
    assert max(kept_kib) < 8 << 10, kept_kib
