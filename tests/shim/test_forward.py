"""Every call is forwarded, counted once, and nothing that a program can see changes."""

import hosts
import pytest
from shim_programs import build, call, report, run

EVERY_HOST = list(hosts.HOSTS)
RANKS = 2
EXPECTED = {  # calls per rank and bytes per call, as calls.c makes them
    "MPI_Sendrecv": (7, 128),
    "MPI_Allreduce": (8, 32),
    "MPI_Isend": (1, 0),  # to MPI_PROC_NULL
    "MPI_Wait": (1, 0),
    "MPI_Type_vector": (1, 0),
    "MPI_Type_commit": (1, 0),
    "MPI_Type_free": (1, 0),
    "MPI_Bcast": (2, 16),
    "MPI_Gatherv": (1, 4),
    "MPI_Alltoallv": (1, 4 * RANKS),
    "MPI_Barrier": (4, 0),
    "MPI_Reduce_local": (6, 1024),
    "MPI_Comm_rank": (1, 0),
    "MPI_Comm_size": (1, 0),
    "MPI_Wtime": (1, 0),
}


@pytest.mark.parametrize("host", EVERY_HOST)
def test_report_counts_what_the_program_did(host):
    finished, result = report(host, RANKS, build(host, "calls.c"))
    assert finished.stdout == f"done {RANKS}\n"
    found = {name: call(result, name) for name in EXPECTED}
    counted = {name: (entry["calls"], entry["bytes"]) for name, entry in found.items() if entry}
    assert counted == {name: (RANKS * n, RANKS * n * each) for name, (n, each) in EXPECTED.items()}
    reduce_local = call(result, "MPI_Reduce_local")
    assert reduce_local["taken"] == RANKS * 6
    assert [algorithm["name"] for algorithm in reduce_local["algorithms"]] == ["sum_f32"]


@pytest.mark.parametrize("host", EVERY_HOST)
def test_off_switch_leaves_no_trace(host):
    program = build(host, "calls.c")
    finished = run(host, RANKS, program, env={"MILLRACE": "0", "MILLRACE_REPORT": "1"}).check()
    assert finished.stdout == f"done {RANKS}\n"
    assert "millrace" not in finished.stderr.lower()


@pytest.mark.parametrize("host", EVERY_HOST)
def test_weak_references_and_dlsym_see_the_host_only(host):
    program = build(host, "probe.c", "-ldl")
    plain = run(host, 1, program, millrace=False).check()
    ours = run(host, 1, program).check()
    assert ours.stdout == plain.stdout
    assert "MPI_Init weak found" in plain.stdout


@pytest.mark.parametrize("host", EVERY_HOST)
def test_calls_from_inside_a_call_belong_to_it(host):
    finished, result = report(host, 1, build(host, "nested.c"))
    assert finished.stdout == "out 5 value set\n"
    assert call(result, "MPI_Type_size") is None
    assert call(result, "MPI_Comm_rank") is None
    assert call(result, "MPI_Comm_free")["calls"] == 1


@pytest.mark.parametrize("host", EVERY_HOST)
def test_a_tool_after_us_still_sees_its_calls(host):
    """All but those that we do ourselves."""
    tool = build(host, "tool.c", "-shared", "-fPIC", name="libtool_below.so")
    env = {"LD_PRELOAD": tool, "MILLRACE_COLLECTIVES": "never"}
    finished, result = report(host, RANKS, build(host, "calls.c"), env=env)
    assert "tool saw 7 sendrecv and 8 allreduce" in finished.stdout
    assert call(result, "MPI_Sendrecv")["calls"] == RANKS * 7


@pytest.mark.parametrize("host", EVERY_HOST)
def test_counters_are_exact_with_many_threads(host):
    finished, result = report(host, 1, build(host, "threads.c", "-pthread"))
    calls = int(finished.stdout.split()[1])
    entry = call(result, "MPI_Reduce_local")
    assert (entry["calls"], entry["taken"], entry["bytes"]) == (calls, calls, calls * 128)


@pytest.mark.parametrize("host", [name for name in EVERY_HOST if name != "openmpi4"])  # 4.1 has no sessions
def test_a_session_without_a_world(host):
    program = build(host, "session.c")
    plain = run(host, 1, program, millrace=False)
    if plain.returncode != 0:
        said = [line for line in plain.stderr.splitlines() if any(letter.isalpha() for letter in line)]
        pytest.skip(f"{host} fails by itself, exit code {plain.returncode}: {' '.join(said[:2])}")
    ours = run(host, 1, program, env={"MILLRACE_REPORT": "1"}).check()
    assert ours.stdout == plain.stdout == "size 1 product 63\n"
    assert "MPI_Reduce_local" in ours.stderr


def test_a_preload_for_another_host_steps_aside():
    """The wrong variant, forced: one line, no report, the right result."""
    for host, other in (("openmpi4", "mpich"), ("mpich4", "openmpi"), ("mpich5", "abi"), ("abi", "mpich")):
        program = build(host, "calls.c")
        finished = run(host, RANKS, program, millrace=["--mpi", other], env={"MILLRACE_REPORT": "1"}).check()
        assert finished.stdout == f"done {RANKS}\n"
        lines = [line for line in finished.stderr.splitlines() if "millrace" in line]
        assert len(lines) == 1 and "stepping aside" in lines[0], finished.stderr


@pytest.mark.parametrize("host", ["mpich4", "mpich5", "intel", "abi"])  # Open MPI itself crashes
def test_addresses_that_are_none_are_the_hosts_to_judge(host):
    program = build(host, "null_addresses.c")
    alone = run(host, 1, program, millrace=False).check()
    assert len(alone.stdout.splitlines()) == 3
    assert run(host, 1, program).check().stdout == alone.stdout
