"""Two nodes that are far from each other: of a large broadcast all pieces are under way at once, behind one letter
(src/shim/node/line_along.cpp)."""

import nodes
import pytest
from shim_programs import build

WHY_NOT = nodes.missing()
pytestmark = pytest.mark.skipif(WHY_NOT is not None, reason=str(WHY_NOT))
OVER_NODES = {"MILLRACE_NODES": "always", "MILLRACE_COLLECTIVES": "always", "MILLRACE_MEASURE": "never"}
BOUND_S = 60


@pytest.fixture(scope="module")
def far():
    with nodes.Nodes(2, delay_us=300, own_ipc=True) as made:
        yield made


def run(made, *words):
    program = [build("openmpi4", "nodes_faults.c"), *words]
    return made.run("openmpi4", 2, program, millrace=True, env=OVER_NODES, timeout=BOUND_S)


def test_what_arrives_from_far_is_right(far):
    assert run(far, "none", 0, 0, 140).check().stdout == "done\n"


# Call 117 is a Bcast of 1 MiB.
@pytest.mark.parametrize("rank", [0, 3])
def test_a_death_ends_the_job(far, rank):
    finished = run(far, "kill", 117, rank)
    assert not finished.timed_out and finished.returncode != 0
    assert "wrong" not in finished.stdout and "done" not in finished.stdout


def test_a_late_rank_is_waited_for(far):
    assert run(far, "late", 117, 3).check().stdout == "done\n"


# Between two nodes data that the host would ask for go as a letter in pieces, of which the last is asked for.
def test_who_comes_late_to_reductions_keeps_one_letter(far):
    program = [build("openmpi4", "nodes_pieces.c"), "early", 2, 126000, "reduce"]
    finished = far.run("openmpi4", 2, program, millrace=True, env=OVER_NODES, timeout=BOUND_S).check()
    lines = finished.stdout.splitlines()
    kept_kib = [int(line.split()[1]) for line in lines if line.startswith("kept")]
    assert len(kept_kib) == 2 and "done" in lines and "wrong" not in finished.stdout
    assert max(kept_kib) < 4 << 10, kept_kib
