"""Tools and other preloads in the process of a program: a tool sees the calls that the program made, with Millrace as
without it, wherever it stands."""

import json
import pathlib
import uuid

import hosts
import neighbor_tool
import pytest
from transparency import OUT, build, lines, usable

RANKS = 2
ROUNDS = 200
CI = ("openmpi4", "mpich4")
FLAGS = {"pmpi": [], "table": ["-Wl,-z,relro,-z,now"], "next": ["-ldl"]}  # by how the tool goes on
ALLOCATORS = {"jemalloc": "libjemalloc.so.2", "mimalloc": "libmimalloc.so.2"}
DIRECTORIES = [pathlib.Path("/usr/lib") / machine for machine in ("x86_64-linux-gnu", "aarch64-linux-gnu")]


def on(*sample):
    return [name if name in sample else pytest.param(name, marks=pytest.mark.full) for name in hosts.HOSTS]


def library_of(host, source, *flags, name):
    return build(host, source, "-shared", "-fPIC", *flags, name=name)


def tool(host, onward="pmpi"):
    source = neighbor_tool.write(OUT, onward)
    return library_of(host, source, *FLAGS[onward], name=f"libneighbor_{onward}.so")


def both(host, alone, ours, *arguments, env=None, millrace=True):
    """What a program prints alone; with Millrace it is the same. And the calls of the report, if there is one."""
    alone = hosts.run(host, RANKS, [*alone, *arguments], env=env).check()
    path = OUT / f"report-{uuid.uuid4().hex}.json"
    own = {"MILLRACE_COLLECTIVES": "always", "MILLRACE_LAYOUTS": "always", "MILLRACE_REPORT": path, **(env or {})}
    try:
        finished = hosts.run(host, RANKS, [*ours, *arguments], millrace=millrace, env=own).check()
        assert lines(finished) == lines(alone), finished.stderr
        calls = {entry["name"]: entry for entry in json.loads(path.read_text())["calls"]} if path.exists() else None
    finally:
        path.unlink(missing_ok=True)
    assert alone.stdout.count(": 0 wrong") == RANKS
    return alone.stdout, calls


def counted(text, calls, name="Allreduce"):
    """The tool saw them all, and the report has each once."""
    for rank in range(RANKS):
        assert f"rank {rank}: {name} {ROUNDS}\n" in text
    assert calls["MPI_Allreduce"]["calls"] == RANKS * ROUNDS


def is_taken(calls, *names):
    for name in names:
        assert calls[name]["taken"] > 0, calls[name]


@pytest.mark.parametrize("onward", ["pmpi", "table"])
@pytest.mark.parametrize("name", on(*CI))
def test_a_tool_below_sees_what_we_do(name, onward):
    """What it calls for itself is in no count: neither in its own, nor in the report."""
    usable(name)
    library = tool(name, onward)
    program = [build(name, "neighbor.c", "-ldl")]
    text, calls = both(name, program, program, env={"LD_PRELOAD": library})
    counted(text, calls)
    is_taken(calls, "MPI_Allreduce", "MPI_Reduce", "MPI_Bcast", "MPI_Barrier", "MPI_Scan", "MPI_Allgather")
    is_taken(calls, "MPI_Alltoall", "MPI_Iallreduce", "MPI_Isend", "MPI_Pack", "MPI_Reduce_local")
    assert calls["MPI_Wait"]["calls"] == calls["MPI_Iallreduce"]["calls"] + RANKS * 4


@pytest.mark.parametrize("name", on(*CI))
def test_a_tool_that_the_program_needs(name):
    usable(name)
    library = tool(name)
    program = [build(name, "neighbor.c", library, "-ldl", name="neighbor_needing")]
    text, calls = both(name, program, program)
    counted(text, calls)
    is_taken(calls, "MPI_Allreduce", "MPI_Bcast")


@pytest.mark.parametrize("name", on(*CI))
def test_a_tool_whose_way_cannot_be_seen(name):
    """It goes on by dlsym(): its calls do not come back to us, so all is left to the host."""
    usable(name)
    library = tool(name, "next")
    program = [build(name, "neighbor.c", "-ldl")]
    text, calls = both(name, program, program, env={"LD_PRELOAD": library})
    counted(text, calls)
    assert calls["MPI_Allreduce"]["taken"] == 0
    assert calls["MPI_Allreduce"]["forwarded_why"] == {"unseen_calls": RANKS * ROUNDS}


@pytest.mark.parametrize("name", on(*CI))
def test_a_tool_above_sees_all_and_we_nothing(name):
    """Linked into the program, or preloaded before us: its PMPI calls are the host's, MPI_Finalize among them."""
    host = usable(name)
    linked = [build(name, "neighbor.c", neighbor_tool.write(OUT, "pmpi"), "-ldl", name="neighbor_linked")]
    text, calls = both(name, linked, linked)
    assert f"rank 0: Allreduce {ROUNDS}\n" in text and calls is None
    library, program = tool(name), build(name, "neighbor.c", "-ldl")
    before = ["/bin/sh", "-c", f"LD_PRELOAD={library}:$LD_PRELOAD exec {program}"]
    text, calls = both(name, before, before, millrace=["--mpi", host.variant])
    assert f"rank 0: Allreduce {ROUNDS}\n" in text and calls is None


@pytest.mark.parametrize("name", on(*CI))
def test_a_tool_with_local_scope_is_out_of_the_way(name):
    """Nobody calls it, but somebody might, so collectives are not shared; what needs no agreement is still done."""
    usable(name)
    program = [build(name, "neighbor.c", "-ldl")]
    _, calls = both(name, program, program, tool(name))
    assert calls["MPI_Allreduce"]["calls"] == RANKS * ROUNDS
    is_taken(calls, "MPI_Reduce_local", "MPI_Pack")


@pytest.mark.parametrize("language", ["c", "fortran"])
@pytest.mark.parametrize("name", on(*CI))
def test_a_program_in_fortran(name, language):
    host = usable(name)
    if "mpif.h" not in host.fortran_interfaces:
        pytest.skip("no mpif.h")
    if language == "c":
        library = tool(name)
    else:
        library = library_of(name, "neighbor_fortran.F90", "-DTOOL", name="libneighbor_fortran.so")
    program = [build(name, "neighbor_fortran.F90")]
    text, calls = both(name, program, program, env={"LD_PRELOAD": library})
    if language == "fortran":
        counted(text, calls, "Allreduce in Fortran")
    is_taken(calls, "MPI_Allreduce")


@pytest.mark.full
@pytest.mark.parametrize("allocator", ALLOCATORS)
@pytest.mark.parametrize("name", list(hosts.HOSTS))
def test_another_allocator(name, allocator):
    usable(name)
    found = [path for path in (directory / ALLOCATORS[allocator] for directory in DIRECTORIES) if path.exists()]
    if not found:
        pytest.skip(f"no {ALLOCATORS[allocator]} is installed")
    program = [build(name, "neighbor.c", "-ldl")]
    _, calls = both(name, program, program, env={"LD_PRELOAD": found[0]})
    is_taken(calls, "MPI_Allreduce", "MPI_Bcast", "MPI_Iallreduce")
