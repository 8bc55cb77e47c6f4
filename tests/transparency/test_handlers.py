"""Error handlers are the program's: Millrace asks its host without touching any."""

import json

import hosts
import pytest
from test_completions import OUT, both_ways, build
from usable import usable

pytestmark = pytest.mark.sampled_hosts


@pytest.mark.parametrize("argument", ["world", "self"])
@pytest.mark.parametrize("name", list(hosts.HOSTS))
def test_handlers_that_are_set_late(name, argument):
    host = usable(name)
    both_ways(host, 1, build(host, "handlers_set_late.c"), argument, check=False)


@pytest.mark.parametrize("ranks", [2, 3])
@pytest.mark.parametrize("name", ["openmpi4", "openmpi5", "mpich4", "intel"])
def test_a_handler_that_frees_the_communicator_of_a_failed_call_of_ours(name, ranks):
    """What is freed is overwritten at once (MALLOC_PERTURB_), and calls are counted for the job's measurement. MPICH 5
    hides errors from a handler's communicator, so that nothing there is ours. Not measured all the time: the call that
    fails would be tried by the host at times, and by themselves Open MPI with three ranks and Intel MPI hang in it."""
    host = usable(name)
    path = OUT / f"frees_after_truncation-{name}-{ranks}.json"
    # Small memory that is freed is not overwritten while a thread keeps it for itself.
    perturbed = {"MALLOC_PERTURB_": 85, "GLIBC_TUNABLES": "glibc.malloc.tcache_count=0"}
    env = {**perturbed, "MILLRACE_MEASURE": "auto", "MILLRACE_REPORT": path}
    program = build(host, "frees_after_truncation.c")
    done = hosts.run(host, ranks, [program], millrace=True, env=env, timeout=60).check()
    assert done.stdout.splitlines() == ["0 wrong, 4 of 4 handled"] * ranks
    calls = {entry["name"]: entry for entry in json.loads(path.read_text())["calls"]}
    assert calls["MPI_Bcast"]["taken"] > 0
    # Without a report the failing call is done as one before it that was remembered.
    done = hosts.run(host, ranks, [program, "repeated"], millrace=True, env={**env, "MILLRACE_REPORT": ""}, timeout=60)
    assert done.check().stdout.splitlines() == ["0 wrong, 4 of 4 handled"] * ranks


@pytest.mark.parametrize("words", [["short"], ["short", "repeated"]], ids=["once", "repeated"])
@pytest.mark.parametrize("ranks", [2, 3])
def test_a_handler_that_frees_the_communicator_when_less_came(ranks, words):
    """Of which MPICH 4 tells a rank, and so do we in its place."""
    host = usable("mpich4")
    env = {"MALLOC_PERTURB_": 85, "GLIBC_TUNABLES": "glibc.malloc.tcache_count=0", "MILLRACE_COLLECTIVES": "always"}
    program = build(host, "frees_after_truncation.c")
    done = hosts.run(host, ranks, [program, *words], millrace=True, env=env, timeout=60).check()
    assert done.stdout.splitlines() == ["0 wrong, 4 of 4 handled"] * ranks
