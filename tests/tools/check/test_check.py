"""`millrace check` on every host: no entry slips past, and it would say so if one did."""

import os
import pathlib
import re
import signal
import subprocess
import time

import hosts
import pytest

TITLES = {"mpif.h": "mpif.h", "mpi": "use mpi", "mpi_f08": "use mpi_f08"}
PRELOADS = hosts.BUILD / "lib/millrace"


def command(host, *options):
    line = [hosts.MILLRACE, "check", "--mpicc", host.compilers["c"], *options]
    line += [f"--fortran-flag={flag}" for flag in host.fortran_flags]
    if host.python:
        line += ["--python", host.python]
    return [str(word) for word in line]


def check(host, *options, **environment):
    extra = {**host.run_environment, **host.python_environment, **environment}
    return subprocess.run(
        command(host, *options), env=hosts.environment(host, extra), capture_output=True, text=True, timeout=300
    )


def lines(finished):
    """title -> (entries, slipped)"""
    found = re.findall(r"^(.+): (\d+) entries, (\d+) slipped past", finished.stdout, re.MULTILINE)
    return {title: (int(entries), int(slipped)) for title, entries, slipped in found}


def test_nothing_slips_past(host, launcher, tmp_path):
    finished = check(host, TMPDIR=tmp_path)
    assert finished.returncode == 0, finished.stdout + finished.stderr
    said = [line.removeprefix("millrace check: ") for line in finished.stderr.splitlines()]
    assert said[:2] == ["C: compiling the calls", "C: making every call"], finished.stderr
    counted = lines(finished)
    assert all(entries > 300 and slipped == 0 for entries, slipped in counted.values())
    expected = {"C", *(TITLES[name] for name in host.fortran_interfaces)} | ({"mpi4py"} if host.python else set())
    assert expected == set(counted)
    if "fortran" not in host.compilers:
        assert "Fortran: skipped: no Fortran compiler wrapper" in finished.stdout
    assert list(tmp_path.glob("millrace-check-*")) == []


def test_a_program_of_the_abi_on_another_library_of_it(launcher):
    """What the MPI-5 ABI is for: built with MPICH's wrapper, run on Intel's library, which has fewer entries."""
    host = hosts.get("abi-intel")
    if host.missing():
        pytest.skip(host.missing())
    variables = [f"--run-env={name}={value}" for name, value in host.run_environment.items()]
    line = [*command(host, *variables), "--python", "/bin/false"]
    finished = subprocess.run(line, env=hosts.environment(host), capture_output=True, text=True, timeout=300)
    assert finished.returncode == 0, finished.stdout + finished.stderr
    assert "libmillrace-abi-impi.so" in finished.stdout
    assert lines(finished)["C"][1] == 0


def test_a_preload_that_lacks_entries_is_found_out(launcher):
    """The base list of the ABI leaves out what only newer hosts have: exactly those slip past."""
    host = hosts.get("openmpi5")
    finished = check(host, "--preload", PRELOADS / "libmillrace-openmpi.so")
    assert finished.returncode == 1
    assert lines(finished)["C"][1] > 0
    assert "  MPI_Allreduce_init slipped past" in finished.stdout
    assert "  MPI_Allreduce slipped past" not in finished.stdout


def test_a_preload_with_foreign_entries_is_found_out(launcher):
    """An entry that the host lacks must not be exported: programs ask for it with weak references."""
    host = hosts.get("openmpi4")
    finished = check(host, "--preload", PRELOADS / "libmillrace-openmpi-5.0.so")
    assert finished.returncode == 1
    assert lines(finished)["C"][1] == 0
    assert "  MPI_Allreduce_init in the preload, though the host has no such entry" in finished.stdout


def test_without_the_preload_nothing_is_claimed(launcher, tmp_path):
    host = hosts.get("mpich4")
    empty = tmp_path / "empty.c"
    empty.write_text("")
    subprocess.run(["cc", "-shared", "-o", tmp_path / "empty.so", empty], check=True)
    finished = check(host, "--preload", tmp_path / "empty.so")
    assert finished.returncode == 1
    assert "Millrace is not in front of this host" in finished.stdout
    assert lines(finished) == {}


def test_a_missing_wrapper_is_one_line(launcher):
    finished = subprocess.run(
        [hosts.MILLRACE, "check", "--mpicc", "no-such-mpicc"], capture_output=True, text=True, timeout=60
    )
    assert finished.returncode == 2
    assert finished.stderr.count("\n") == 1
    assert "no-such-mpicc" in finished.stderr


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_an_interrupted_check_leaves_nothing_behind(number, launcher, tmp_path):
    host = hosts.get("mpich4")
    environment = hosts.environment(host, {"TMPDIR": tmp_path})
    with subprocess.Popen(command(host), env=environment, stdout=subprocess.DEVNULL) as running:
        end = time.monotonic() + 30
        while not list(tmp_path.glob("millrace-check-*")) and time.monotonic() < end:
            time.sleep(0.01)
        running.send_signal(number)
        assert running.wait(timeout=60) != 0
    assert list(tmp_path.glob("millrace-check-*")) == []


def test_sources_lie_beside_the_command(launcher):
    share = pathlib.Path(os.path.dirname(launcher)) / "share/millrace/check"
    for name in ("driver.c", "rows_c.c", "calls_f08.F90", "check_mpi4py.py", "entries.list"):
        assert (share / name).exists()
