"""Ranks on two nodes disagree in how much there is: no rank takes wrong data for right ones, none waits for ever, and
all hear of it in the next call in which they meet, if not at once."""

import hosts
import nodes
import pytest
from shim_programs import build, run

OVER_NODES = {"MILLRACE_NODES": "always", "MILLRACE_COLLECTIVES": "always", "MILLRACE_MEASURE": "never"}
WHY_NOT = nodes.missing()
KINDS = 9
# Of which every rank gets something of all the others, and so hears of it in the call itself.
FROM_ALL = ("allreduce", "allgather", "reduce_scatter", "alltoall")
# What the others send, what those who differ do, who they are, and who is the root. Letters that a host sends at once,
# those that it would hold until they are asked for, which are cut where it is known how much it sends, and what is too
# long for one.
CASES = {
    "more_small": (1, 2, "node", 2, 0),
    "fewer_small": (2, 1, "node", 0, 0),
    "more": (3000, 6000, "node", 2, 0),
    "fewer": (6000, 3000, "node", 2, 0),
    "more_large": (70_000, 140_000, "node", 2, 0),
    "fewer_large": (140_000, 70_000, "node", 0, 0),
    "more_in_pieces": (300_000, 600_000, "node", 2, 0),
    "fewer_in_pieces": (600_000, 300_000, "node", 2, 0),
    "more_in_cut_letters": (16_000, 28_000, "node", 2, 0),
    "fewer_in_cut_letters": (28_000, 16_000, "node", 0, 0),
    "one_rank_more_in_cut_letters": (6000, 28_000, "rank", 3, 3),
    "root_fewer_in_cut_letters": (28_000, 6000, "rank", 3, 3),
    "one_rank_more": (3000, 6000, "rank", 0, 0),
    "one_rank_fewer": (6000, 3000, "rank", 3, 0),
    "one_rank_more_large": (70_000, 140_000, "rank", 3, 3),
    "one_rank_fewer_large": (140_000, 70_000, "rank", 2, 3),
    "one_rank_more_in_pieces": (300_000, 600_000, "rank", 3, 3),
    "root_fewer_large": (140_000, 70_000, "rank", 3, 3),
}


def check(finished):
    assert not finished.timed_out, finished.stdout
    # UCX says on the same output what it has of messages that nobody wanted.
    lines = [line.split() for line in finished.check().stdout.splitlines() if "UCX" not in line]
    assert len(lines) == 4 * KINDS, finished.stdout
    for kind, rank, came, barrier in lines:
        assert came in (("error",) if kind in FROM_ALL else ("error", "right")), (kind, rank, finished.stdout)
        assert barrier == "error", (kind, rank, finished.stdout)


# A rank that believes itself the root waits for the others, and they for theirs, without Millrace too.
def arguments(case):
    return [*CASES[case], "root_of_reduce"]


@pytest.mark.sampled_hosts
@pytest.mark.parametrize(
    "host, case", [("openmpi4", case) for case in CASES] + [(host, "fewer") for host in hosts.HOSTS]
)
def test_on_pretended_nodes(host, case):
    program = build(host, "nodes_disagree.c")
    env = {**OVER_NODES, "MILLRACE_NODE_SPLIT": "2+2"}
    check(run(host, 4, program, *arguments(case), env=env, timeout=60))


@pytest.mark.parametrize("split", ["0,1,0,1", "1+3", "1+1+2"])
def test_wherever_ranks_are(split):
    program = build("openmpi4", "nodes_disagree.c")
    for case in (name for name in CASES if name.startswith(("one_rank", "root"))):
        check(
            run("openmpi4", 4, program, *arguments(case), env={**OVER_NODES, "MILLRACE_NODE_SPLIT": split}, timeout=60)
        )


@pytest.fixture(scope="module")
def made():
    with nodes.Nodes(2) as each:
        yield each


@pytest.mark.full
@pytest.mark.skipif(WHY_NOT is not None, reason=str(WHY_NOT))
@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("host", ["openmpi4", "mpich4", "openmpi5", "mpich5", "intel"])
def test_on_two_nodes(made, host, case):
    program = build(host, "nodes_disagree.c")
    check(made.run(host, 2, [program, *arguments(case)], millrace=True, env=OVER_NODES, timeout=60))
