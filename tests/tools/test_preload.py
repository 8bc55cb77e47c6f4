"""`millrace preload`: the path for those who set LD_PRELOAD themselves, or one line that says why there is none."""

import pathlib
import subprocess

import hosts
import pytest
from usable import usable

HELLO = pathlib.Path(__file__).resolve().parents[1] / "hosts/programs/hello.c"


def preload(launcher, *words, **variables):
    environment = {"PATH": "/usr/bin:/bin", **variables}
    command = [str(word) for word in (launcher, "preload", *words)]
    return subprocess.run(command, env=environment, capture_output=True, text=True, timeout=60, check=False)


@pytest.mark.parametrize("name", ["openmpi4", "mpich4"])
def test_a_program_that_is_started_with_it_is_reached(launcher, tmp_path, name):
    host = usable(name)
    program = hosts.compile(host, HELLO, tmp_path / "hello")
    finished = preload(launcher, program, "--report", "x")
    assert (finished.returncode, finished.stderr) == (0, "")
    path = finished.stdout.rstrip("\n")
    assert pathlib.Path(path).name == f"libmillrace-{host.generation}.so"
    reached = hosts.run(host, 2, program, env={"LD_PRELOAD": path, "MILLRACE_REPORT": "1"}).check()
    assert "2 ranks, sum 1\n" in reached.stdout
    assert "MPI_Allreduce" in reached.stderr


def test_mpi_says_which(launcher):
    for words in (["--mpi", "mpich", "env"], ["--mpi=mpich", "--", "env", "-i"]):
        finished = preload(launcher, *words)
        assert finished.returncode == 0, finished.stderr
        assert pathlib.Path(finished.stdout.strip()).name == "libmillrace-mpich.so"


@pytest.mark.parametrize(
    ("words", "variables", "code", "says"),
    [
        (["/bin/echo"], {}, 1, "needs no MPI library; if it loads one later, --mpi"),
        (["--mpi=lam", "/bin/echo"], {}, 1, "none of openmpi, mpich, abi"),
        (["--mpi=mpich", "/bin/echo"], {"MILLRACE": "0"}, 1, "unset MILLRACE"),
        (["no-such-program"], {}, 127, "not found in PATH"),
        (["/etc/passwd"], {}, 126, "chmod"),
        ([], {}, 2, "millrace preload ./app"),
        (["--nonsense", "/bin/echo"], {}, 2, "--nonsense: no such option"),
    ],
)
def test_without_one_a_line_says_why(launcher, words, variables, code, says):
    finished = preload(launcher, *words, **variables)
    assert (finished.returncode, finished.stdout) == (code, "")
    assert len(finished.stderr.splitlines()) == 1 and says in finished.stderr


def test_millrace_itself_has_none(launcher):
    finished = preload(launcher, launcher)
    assert finished.returncode == 1 and "name the program" in finished.stderr
