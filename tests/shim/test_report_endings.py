"""Reports of programs that end without MPI_Finalize: by MPI_Abort, by exit(), by a signal, with handlers of their own.
What the job does otherwise, its output and its exit code, is as without Millrace."""

import json
import time

import hosts
import process
import pytest
from shim_programs import build

pytestmark = pytest.mark.sampled_hosts
HOSTS = list(hosts.HOSTS)


def end(host, directory, how, ranks=1, millrace=True):
    env = {"MILLRACE_REPORT": "run.json"} if millrace else {}
    return hosts.run(host, ranks, [build(host, "endings.c"), how], millrace=millrace, env=env, directory=directory)


def end_alone(host, directory, program, *words, millrace=True):
    """Without a launcher, whose exit code of a rank that did not finalise is now and then another."""
    line = [*([hosts.MILLRACE] if millrace else []), build(host, program), *words]
    env = {"MILLRACE_REPORT": "run.json"} if millrace else {}
    return process.run(line, hosts.environment(host, env), 60, directory)


def reports(directory):
    """{name: report}"""
    return {path.name: json.loads(path.read_text()) for path in sorted(directory.iterdir()) if path.suffix == ".json"}


def ended_by(report):
    return [note.split(",")[0].removeprefix("ended by ") for note in report["notes"] if note.startswith("ended by ")]


def has_calls(report):
    return {"MPI_Reduce_local", "MPI_Allreduce"} <= {call["name"] for call in report["calls"]}


# How the program ends, and what the report calls it.
ENDINGS = {
    "abort": "MPI_Abort",
    "exit": "exit() without MPI_Finalize",
    "fault": "SIGSEGV",
    "overflow": "SIGSEGV",
    "abort()": "SIGABRT",
    "term": "SIGTERM",
    "heap": "SIGABRT",
    "handled_before": "SIGSEGV",
    "handled_after": "SIGSEGV",
    "other_thread": "SIGSEGV",
    "in_handler": "exit() without MPI_Finalize",
    "exit_busy": "exit() without MPI_Finalize",
    "mended_exit": "exit() without MPI_Finalize",
}


QUICK = ("exit", "fault", "in_handler")


@pytest.mark.parametrize("how", [how if how in QUICK else pytest.param(how, marks=pytest.mark.full) for how in ENDINGS])
@pytest.mark.parametrize("host", ["openmpi4", "mpich4"])
def test_a_rank_reports_however_it_ends(host, tmp_path, how):
    plain, ours = (end_alone(host, tmp_path, "endings.c", how, millrace=millrace) for millrace in (False, True))
    assert ours.returncode == plain.returncode != (0 if how not in ("exit", "in_handler") else None)
    assert [line for line in ours.stdout.splitlines() if line.startswith("handler")] == [
        line for line in plain.stdout.splitlines() if line.startswith("handler")
    ]
    found = reports(tmp_path)
    assert list(found) == ["run.json"]
    assert ended_by(found["run.json"]) == [ENDINGS[how]]
    assert has_calls(found["run.json"])


@pytest.mark.parametrize("how", ["abort", "fault"])
@pytest.mark.parametrize("host", HOSTS)
def test_the_rank_that_ends_the_job_reports_of_itself(host, tmp_path, how):
    plain, ours = end(host, tmp_path, f"{how}1", 3, millrace=False), end(host, tmp_path, f"{how}1", 3)
    if host != "intel":  # by luck
        assert ours.returncode == plain.returncode
    found = reports(tmp_path)
    own = found["run.rank1.json"]
    assert [rank["rank"] for rank in own["by_rank"]] == [1]
    assert ended_by(own) == [ENDINGS[how]]
    assert has_calls(own)
    # The others, where the launcher leaves them the time.
    assert set(found) <= {"run.rank1.json", "run.json"}
    if "run.json" in found:
        assert 1 in [rank["rank"] for rank in found["run.json"]["by_rank"]]


@pytest.mark.parametrize("host", HOSTS)
def test_ranks_that_all_exit_make_one_report(host, tmp_path):
    end(host, tmp_path, "exit", 3)
    found = reports(tmp_path)
    assert list(found) == ["run.json"]
    assert [rank["rank"] for rank in found["run.json"]["by_rank"]] == [0, 1, 2]
    assert ended_by(found["run.json"]) == [ENDINGS["exit"]]


@pytest.mark.parametrize("how", ["mended", "exit_finalizes", "child_exits", "child_faults", "sender", "restart"])
@pytest.mark.parametrize("ranks", [1, 2])
@pytest.mark.parametrize("host", HOSTS)
def test_what_is_no_end_is_not_reported_as_one(host, tmp_path, ranks, how):
    plain, ours = (end(host, tmp_path, how, ranks, millrace) for millrace in (False, True))
    assert ours.returncode == plain.returncode == 0
    assert ours.stdout == plain.stdout
    found = reports(tmp_path)
    assert list(found) == ["run.json"]
    assert ended_by(found["run.json"]) == []
    assert len(found["run.json"]["by_rank"]) == ranks


def test_a_report_that_hangs_does_not_hold_up_the_end(tmp_path):
    """The thread that faults holds the lock of the only heap there is."""
    program = build("mpich4", "endings_heap.c")
    env = {"UCX_HANDLE_ERRORS": "none"}  # its own backtrace hangs on that lock
    plain = hosts.run("mpich4", 1, [program], env=env, directory=tmp_path)
    start = time.monotonic()
    env["MILLRACE_REPORT"] = "run.json"
    ours = hosts.run("mpich4", 1, [program], millrace=True, env=env, directory=tmp_path)
    assert ours.returncode == plain.returncode != 0
    assert 1.5 < time.monotonic() - start < 15, "it was waited for, and not for ever"
    assert reports(tmp_path) == {}


@pytest.mark.parametrize("host", ["openmpi4", "mpich4"])
def test_what_fortran_says_of_a_fault_is_said(host, tmp_path):
    plain, ours = (end_alone(host, tmp_path, "endings_fortran.f90", millrace=millrace) for millrace in (False, True))
    assert ours.returncode == plain.returncode != 0
    for finished in (plain, ours):
        assert "Backtrace for this error" in finished.stderr
    assert ended_by(reports(tmp_path)["run.json"]) == ["SIGSEGV"]


@pytest.mark.parametrize("host", ["openmpi4", "mpich4"])
def test_fortran_that_stops(host, tmp_path):
    program = "endings_fortran.f90"
    plain, ours = (end_alone(host, tmp_path, program, "stop", millrace=millrace) for millrace in (False, True))
    assert ours.returncode == plain.returncode == 3
    assert ended_by(reports(tmp_path)["run.json"]) == [ENDINGS["exit"]]


@pytest.mark.parametrize("order", ["faulthandler.enable(); MPI.Init()", "MPI.Init(); faulthandler.enable()"])
@pytest.mark.parametrize("host", [name for name in ("openmpi4", "mpich4") if hosts.HOSTS[name].python])
def test_what_python_says_of_a_fault_is_said(host, tmp_path, order):
    script = tmp_path / "fault.py"
    script.write_text(
        f"import ctypes, faulthandler, mpi4py; mpi4py.rc.initialize = False\n"
        f"from mpi4py import MPI; {order}; MPI.COMM_WORLD.Barrier(); ctypes.string_at(0)"
    )
    command = [hosts.get(host).python, script]
    finished = hosts.run(host, 1, command, millrace=True, env={"MILLRACE_REPORT": "run.json"}, directory=tmp_path)
    assert finished.returncode != 0
    assert "Fatal Python error: Segmentation fault" in finished.stderr
    assert ended_by(reports(tmp_path)["run.json"]) == ["SIGSEGV"]
