"""Buffers and counts that the standard forbids, and memory that others may not read: as with the host alone."""

import pathlib

import hosts
import pytest

PROGRAMS = pathlib.Path(__file__).resolve().parent / "programs"
OUT = hosts.BUILD / "tests" / "transparency"
EVERYTHING = {"MILLRACE_COLLECTIVES": "always"}


def build(host, name):
    return hosts.compile(host, PROGRAMS / f"{name}.c", OUT / host / name)


def lines(finished):
    """Without what MPICH's transport says of messages that nobody expected."""
    return [line for line in finished.check().stdout.splitlines() if " UCX " not in line]


def compare(host, ranks):
    program = build(host, "buffers")
    # Intel MPI alone does not come to the end: ranks wait for ever for one that was told of its forbidden buffers.
    if host == "intel":
        ours = lines(hosts.run(host, ranks, program, millrace=True, env=EVERYTHING, timeout=120))
        assert ours[-1] == "done"
        return
    program = [program, "truncated"]
    alone = lines(hosts.run(host, ranks, program, timeout=120))
    assert alone[-1] == "done"
    assert lines(hosts.run(host, ranks, program, millrace=True, env=EVERYTHING, timeout=120)) == alone


@pytest.mark.parametrize("host", list(hosts.HOSTS))
def test_forbidden_buffers_and_counts(host):
    compare(host, 2)


@pytest.mark.full
@pytest.mark.parametrize("ranks", [3, 5])
@pytest.mark.parametrize("host", list(hosts.HOSTS))
def test_forbidden_buffers_and_counts_of_many_ranks(host, ranks):
    compare(host, ranks)


def others_fully(host):
    return pytest.param(host, marks=[] if host in ("openmpi4", "mpich4") else pytest.mark.full)


@pytest.mark.parametrize("host", [others_fully(host) for host in hosts.HOSTS])
def test_memory_that_may_no_longer_be_read(host):
    """Not with the host alone: where it reads other ranks' memory itself it may end the job."""
    assert hosts.run(host, 2, build(host, "unreadable"), millrace=True, env=EVERYTHING).check().stdout == "done\n"
