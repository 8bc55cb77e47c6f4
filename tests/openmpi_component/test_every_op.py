"""The reference's bits, through every kind of call that makes Open MPI reduce."""

import component
import pytest

KINDS = [
    "Reduce_local", "three_buffers", "Allreduce", "Iallreduce", "Reduce", "Scan", "Exscan",
    "Reduce_scatter", "Accumulate", "Get_accumulate", "Fetch_and_op",
]  # fmt: skip
PAIRS = 341  # of an op and a datatype, in every_op_cases.h


def program():
    three_buffers = component.build_with_internals("three_buffers.c", "-shared", "-fPIC")
    return component.build("every_op.cpp", "-std=gnu++20", three_buffers)


@pytest.mark.parametrize("ranks", [1, 2, 3])
def test_every_op_on_every_type(ranks):
    finished = component.run(program(), ranks=ranks, env=component.environment()).check()
    assert finished.stdout.splitlines() == [f"{kind} {PAIRS}" for kind in KINDS]


@pytest.mark.parametrize("osc", ["rdma", "sm"])
def test_one_sided_through_each_of_the_hosts_ways(osc):
    for kind in ("Accumulate", "Get_accumulate"):
        finished = component.run(program(), kind, ranks=2, env=component.environment(osc=osc)).check()
        assert finished.stdout == f"{kind} {PAIRS}\n"


@pytest.mark.parametrize("level", ["0x03f", "0x00f", "0x003"])
def test_narrower_units(level):
    env = component.environment(op_millrace_support=level)
    for kind in ("Reduce_local", "three_buffers"):
        finished = component.run(program(), kind, env=env).check()
        assert finished.stdout == f"{kind} {PAIRS}\n"


def test_the_host_alone_gives_other_bits():
    """So the tests above would be red without our functions. Goes once the host is as the reference."""
    finished = component.run(program(), "Reduce_local").check()
    wrong = [line for line in finished.stdout.splitlines() if line.startswith("wrong:")]
    if not wrong:
        pytest.skip("this Open MPI has the bits of the reference")
    for expected in ("sum MPI_INT8_T", "max MPI_FLOAT", "max MPI_OFFSET", "sum MPI_REAL16", "maxloc MPI_DOUBLE_INT"):
        assert f"wrong: Reduce_local {expected}" in wrong


def test_the_host_alone_gives_other_bits_in_collectives_too():
    finished = component.run(program(), "Allreduce", ranks=2).check()
    if "wrong:" not in finished.stdout:
        pytest.skip("this Open MPI has the bits of the reference")
    assert "wrong: Allreduce sum MPI_INT8_T" in finished.stdout
