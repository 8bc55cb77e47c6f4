"""mpi4py's own test suite: what passes without Millrace passes with it, and nothing else changes."""

import hosts
import mpi4py_suite
import pytest
from usable import usable

# What touches reductions and callbacks most, in seconds: runs on every change.
SAMPLE = ["-i", "test_op.py|test_attributes"]


def compare(name, ranks, timeout, arguments=()):
    host = usable(name)
    without = mpi4py_suite.run(host, ranks, False, timeout, arguments)
    with_ = mpi4py_suite.run(host, ranks, True, timeout, arguments)
    print(mpi4py_suite.describe("without", without))
    print(mpi4py_suite.describe("with", with_))
    assert mpi4py_suite.differences(without, with_) == []
    assert with_.ended == without.ended == ""
    assert without.counts()["passed"] > 20


def test_a_part_of_the_suite(launcher):
    sources = hosts.ENVIRONMENTS / "mpi4py-source"
    assert sources.is_dir(), f"{sources} is missing: ./dev setup test"
    compare("openmpi5", 2, 120, SAMPLE)


@pytest.mark.full
@pytest.mark.parametrize(("name", "ranks"), [("openmpi5", 3), ("mpich5", 2)])
def test_the_whole_suite(name, ranks, launcher):
    compare(name, ranks, 1700)
