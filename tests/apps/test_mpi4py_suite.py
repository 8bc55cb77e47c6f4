"""mpi4py's own test suite: what passes without Millrace passes with it, and nothing else changes."""

import mpi4py_suite
import pytest
from conftest import usable

# A part that touches much of MPI and takes seconds: what runs on every change.
SAMPLE = ["-i", "test_op|test_cco_buf.py|test_p2p_buf.py|test_attributes|test_request|test_datatype|test_errhandler"]


def compare(name, ranks, timeout, arguments=()):
    host = usable(name)
    without = mpi4py_suite.run(host, ranks, False, timeout, arguments)
    with_ = mpi4py_suite.run(host, ranks, True, timeout, arguments)
    print(mpi4py_suite.describe("without", without))
    print(mpi4py_suite.describe("with", with_))
    assert mpi4py_suite.differences(without, with_) == []
    assert with_.ended == without.ended == ""
    assert without.counts()["passed"] > 50


@pytest.mark.full
@pytest.mark.parametrize(("name", "ranks"), [("openmpi5", 2), ("mpich5", 2)])
def test_a_part_of_the_suite(name, ranks, launcher):
    compare(name, ranks, 600, SAMPLE)


@pytest.mark.full
@pytest.mark.parametrize(
    ("name", "ranks"), [("openmpi5", 1), ("openmpi5", 2), ("openmpi5", 3), ("mpich5", 1), ("mpich5", 2)]
)
def test_the_whole_suite(name, ranks, launcher):
    compare(name, ranks, 1700)
