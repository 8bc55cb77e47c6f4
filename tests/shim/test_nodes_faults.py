"""Something goes wrong in the middle of collectives over two nodes: the job ends as it does without Millrace, in
bounded time, and no rank goes on with wrong data."""

import json

import nodes
import pytest
from shim_programs import build

WHY_NOT = nodes.missing()
pytestmark = pytest.mark.skipif(WHY_NOT is not None, reason=str(WHY_NOT))
OVER_NODES = {"MILLRACE_NODES": "always", "MILLRACE_COLLECTIVES": "always", "MILLRACE_MEASURE": "never"}
# In call 112, long after the ranks have agreed, rank 3 of two nodes of two.
CALL, RANK = 112, 3
BOUND_S = 30
DEATHS = ("exit0", "exit3", "abort", "kill")


@pytest.fixture(scope="module")
def made():
    with nodes.Nodes(2, own_ipc=True) as each:
        yield each


def run(made, what, millrace):
    env = OVER_NODES if millrace else {}
    program = [build("openmpi4", "nodes_faults.c"), what, CALL, RANK]
    return made.run("openmpi4", 2, program, millrace=millrace, env=env, timeout=BOUND_S)


@pytest.mark.parametrize(
    "what", ["kill_node", "invalid", *(pytest.param(death, marks=pytest.mark.full) for death in DEATHS)]
)
def test_the_job_ends_as_the_hosts_does(made, what):
    ours, alone = (run(made, what, millrace) for millrace in (True, False))
    assert not ours.timed_out and not alone.timed_out
    assert ours.returncode == alone.returncode != 0
    for finished in (ours, alone):
        assert "wrong" not in finished.stdout and "done" not in finished.stdout
    # Who is left on the node of a rank that died says so; of a node that is gone only the host hears.
    said = "another rank of the communicator has died; ranks on other nodes cannot be told" in ours.stderr
    assert said == (what != "kill_node"), ours.stderr


@pytest.mark.parametrize("what", ["count", "kind"])
def test_nodes_that_disagree_end_the_job(made, what):
    """Nobody has asked for errors to be returned. (Open MPI alone still waits where the calls are of two kinds.)"""
    finished = run(made, what, True)
    assert not finished.timed_out and finished.returncode != 0
    assert "wrong" not in finished.stdout and "done" not in finished.stdout
    assert "called different collectives, or with different sizes or roots" in finished.stderr


def test_a_late_rank_is_waited_for(made):
    finished = run(made, "late", True).check()
    assert finished.stdout == "done\n"


def test_no_shared_memory_on_one_node(made, tmp_path):
    """All is left to the host, and the other node's report says why."""
    program = [build("openmpi4", "nodes_faults.c"), "none"]
    env = {**OVER_NODES, "MILLRACE_REPORT": str(tmp_path / "report.json")}
    made.prepare(1, "mount -t tmpfs -o ro none /dev/shm")
    try:
        finished = made.run("openmpi4", 2, program, millrace=True, env=env, timeout=BOUND_S).check()
    finally:
        made.prepare(1, "")
    assert finished.stdout == "done\n"
    reports = {each.name: json.loads(each.read_text())["calls"] for each in tmp_path.iterdir()}
    assert not any(call["algorithms"] for calls in reports.values() for call in calls), reports
    whole = reports[f"report.{made.names[0]}.json"]
    why = next(call["forwarded_why"] for call in whole if call["name"] == "MPI_Allreduce")
    assert why["no_shared_memory"] > 0
