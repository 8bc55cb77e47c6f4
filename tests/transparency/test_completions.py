"""Requests that complete where Millrace might not see it: programs print the same alone and with Millrace."""

import json
import pathlib
import uuid

import hosts
import pytest
from usable import usable

pytestmark = pytest.mark.sampled_hosts

SOURCES = pathlib.Path(__file__).resolve().parent / "programs"
OUT = hosts.BUILD / "tests" / "transparency"
ALWAYS = {"MILLRACE_LAYOUTS": "always"}
UNSEEN = "unseen_completion"
LATER = ("MPI_Irecv", "MPI_Isend", "MPI_Iallgather", "MPI_Send_init", "MPI_Recv_init")
TOOL = SOURCES / "completion_tool.c"


def on(*sample):
    """Some hosts by default, all of them in full."""
    return [name if name in sample else pytest.param(name, marks=pytest.mark.full) for name in hosts.HOSTS]


def build(host, source, *flags, name=None):
    out = OUT / host.name / (name or pathlib.Path(source).stem)
    return hosts.compile(host, SOURCES / source, out, flags=flags)


def both_ways(host, ranks, program, *arguments, env=None, check=True, millrace=True):
    """What it prints, which must be the same alone and with Millrace, and the report."""
    alone = hosts.run(host, ranks, [program, *arguments], env=env, timeout=60)
    path = OUT / f"report-{uuid.uuid4().hex}.json"
    try:
        env = {"MILLRACE_REPORT": path, **ALWAYS, **(env or {})}
        ours = hosts.run(host, ranks, [program, *arguments], millrace=millrace, env=env, timeout=60)
        # Ranks print at once.
        assert sorted(ours.stdout.splitlines()) == sorted(alone.stdout.splitlines()), ours
        assert ours.returncode == alone.returncode
        if not check:
            return ours.stdout, None
        ours.check()
        return ours.stdout, {entry["name"]: entry for entry in json.loads(path.read_text())["calls"]}
    finally:
        path.unlink(missing_ok=True)


def left_to_the_host(calls, names=LATER):
    for name in names:
        assert calls[name]["taken"] == 0 and calls[name]["forwarded_why"][UNSEEN] > 0, calls[name]
    return True


def taken(calls, names=LATER):
    for name in names:
        assert calls[name]["taken"] > 0 and UNSEEN not in calls[name]["forwarded_why"], calls[name]
    return True


@pytest.mark.parametrize("name", list(hosts.HOSTS))
def test_in_a_delete_callback_at_the_end(name):
    host = usable(name)
    text, calls = both_ways(host, 2, build(host, "finalize_callback.c"))
    assert text.count(": 0 wrong") == 16
    assert taken(calls, ("MPI_Irecv", "MPI_Recv_init", "MPI_Iallgather"))


LINKED = {
    "pmpi": [TOOL],
    "next": [TOOL, "-DWAY=2", "-ldl"],
    "hidden": [TOOL, "-fvisibility=hidden"],
    "direct": ["-DDIRECT"],
}


@pytest.mark.parametrize("how", LINKED)
@pytest.mark.parametrize("name", on("openmpi4", "mpich5"))
def test_a_tool_in_the_program(name, how):
    host = usable(name)
    program = build(host, "completions.c", *LINKED[how], name=f"completions_{how}")
    _, calls = both_ways(host, 2, program)
    assert left_to_the_host(calls)
    assert calls["MPI_Sendrecv"]["taken"] > 0  # nothing of it completes later


@pytest.mark.parametrize("name", on("openmpi5", "mpich4"))
def test_a_library_of_tools_before_us_and_behind_us(name):
    host = usable(name)
    library = build(host, TOOL, "-shared", "-fPIC", name="libmpi_completion_tool.so")
    program = build(host, "completions.c")
    before = [f"LD_PRELOAD={library}:$LD_PRELOAD exec {program}"]
    # A shell does not say which MPI it will be.
    _, calls = both_ways(host, 2, "/bin/sh", "-c", *before, millrace=["--mpi", host.variant])
    assert left_to_the_host(calls)
    _, calls = both_ways(host, 2, program, env={"LD_PRELOAD": library})
    assert taken(calls)
    _, calls = both_ways(host, 2, build(host, "completions.c", library, name="completions_needing"))
    assert taken(calls)


@pytest.mark.parametrize("name", on("openmpi4", "mpich4"))
def test_a_library_that_defines_nothing(name):
    """The hash table of its symbols is empty, and does not say where those that it wants from others end."""
    host = usable(name)
    library = build(host, "silent_library.c", "-shared", "-fPIC", name="libsilent.so")
    needs_all = "-Wl,--no-as-needed"
    _, calls = both_ways(host, 2, build(host, "completions.c", needs_all, library, name="completions_silent"))
    assert left_to_the_host(calls)


@pytest.mark.parametrize("name", on("openmpi4", "abi"))
def test_a_tool_that_is_loaded_late(name):
    host = usable(name)
    library = build(host, TOOL, "-shared", "-fPIC", name="libmpi_completion_tool.so")
    text, _ = both_ways(host, 2, build(host, "late_tool.c", "-ldl"), library)
    assert text.count("missing: 0") == 2


@pytest.mark.parametrize("name", on("intel"))
def test_nobody_is_suspected(name):
    host = usable(name)
    _, calls = both_ways(host, 2, build(host, "completions.c"))
    assert taken(calls)


FORTRAN = [
    (host.name, which) for host in hosts.HOSTS.values() for which in host.fortran_interfaces if which != "mpif.h"
]


@pytest.mark.parametrize("name, interface", FORTRAN)
def test_the_hosts_own_fortran_is_not_a_tool(name, interface):
    """Its libraries call PMPI_Wait, too."""
    host = usable(name)
    flags = ["-DF08"] if interface == "mpi_f08" else []
    _, calls = both_ways(host, 2, build(host, "completions_fortran.F90", *flags, name=f"completions_{interface}"))
    assert taken(calls, ("MPI_Irecv", "MPI_Isend"))


@pytest.mark.parametrize("name", on("openmpi4"))
def test_a_tool_in_fortran(name):
    host = usable(name)
    if "mpi" not in host.fortran_interfaces:
        pytest.skip("no Fortran")
    program = build(host, "completions_fortran.F90", "-DTOOL", name="completions_fortran_tool")
    _, calls = both_ways(host, 2, program)
    assert left_to_the_host(calls, ("MPI_Irecv", "MPI_Isend"))


@pytest.mark.parametrize("name", on("openmpi5", "mpich5"))
def test_very_many_requests(name):
    """Searched one by one, these took more than a minute."""
    host = usable(name)
    text, calls = both_ways(host, 2, build(host, "many_requests.c"), 30000, 1500)
    assert text.count(": 0 wrong") == 2 * 8
    assert calls["MPI_Irecv"]["taken"] > 100000


@pytest.mark.parametrize("ranks", [2, 3, 4])
@pytest.mark.parametrize("name", on("openmpi4", "mpich5"))
def test_collectives_under_both_names(name, ranks):
    """One rank's MPI_Bcast is another's PMPI_Bcast: neither is counted on."""
    host = usable(name)
    text, calls = both_ways(host, ranks, build(host, "mixed_names.c"))
    assert text.count(": 0 wrong") == ranks
    for call in ("MPI_Bcast", "MPI_Allreduce"):
        assert calls[call]["taken"] == 0 and calls[call]["forwarded_why"]["unseen_calls"] > 0, calls[call]
