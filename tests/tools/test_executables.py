"""Two executables are one command: what starts programs quickly does what the other one would do."""

import os
import shutil
import subprocess

import pytest

EMPTY = {"PATH": os.environ["PATH"], "HOME": "/"}


@pytest.fixture
def here(tmp_path):
    """A directory of programs, each of which says its words and its variables."""
    for name in ("report", "help", "script", "mpirun.mpich", "weird name"):
        program = tmp_path / name
        program.write_text('#!/bin/sh\necho "$0" "$#" "$@"\nenv | grep -v "^PWD\\|^_=\\|WHOLE_JOB" | sort\nexit 5\n')
        program.chmod(0o755)
    (tmp_path / "no program").write_text("")
    (tmp_path / "unreadable").write_text("#!/no/interpreter\n")
    (tmp_path / "unreadable").chmod(0o755)
    (tmp_path / "directory").mkdir()
    return tmp_path


COMMANDS = [
    ["./script"], ["./script", "", "--report", "--", "a b"], ["--", "./script"], ["--whole-job", "./script"],
    ["--whole-job", "--", "./script", "-x"], ["./weird name"], ["script"], ["--", "report"], ["./help"],
    ["./no program"], ["./unreadable"], ["./directory"], ["./missing"], ["missing"], [""], ["--"], [], ["--whole-job"],
    ["--", "--report"], ["-"], ["--", "-"], ["--report", "./script"], ["--isa=none", "./script"], ["--nonsense"],
    ["help"], ["help", "nonsense"], ["report"], ["./mpirun.mpich"], ["./mpirun.mpich", "-n", "2", "./script"],
    ["--", "mpirun.mpich", "-n", "2", "./script"], ["--explain", "./script"], ["--version"],
]  # fmt: skip


@pytest.mark.parametrize("settings", [{}, {"MILLRACE": "0"}, {"MILLRACE_LOG": "off"}, {"PMI_RANK": "1"}], ids=str)
def test_both_do_the_same(launcher, here, settings):
    tools = launcher.parent / "lib/millrace/millrace-tools"
    env = {**EMPTY, "PATH": f"{here}:{EMPTY['PATH']}", **settings}
    seen = set()
    for words in COMMANDS:
        quick, whole = (
            subprocess.run([path, *words], env=env, cwd=here, capture_output=True, text=True, timeout=60)
            for path in (launcher, tools)
        )
        assert (quick.returncode, quick.stdout, quick.stderr) == (whole.returncode, whole.stdout, whole.stderr), words
        seen.add(quick.returncode)
    assert {0, 2, 5, 126, 127} <= seen


def test_a_plain_start_needs_the_small_one_alone(launcher, here):
    """As many ranks as there are must not each map and bind what only subcommands need."""
    shutil.copy(launcher, here / "millrace")
    shutil.copytree(launcher.parent / "lib/millrace", here / "lib/millrace")
    (here / "lib/millrace/millrace-tools").unlink()
    run = lambda *words: subprocess.run(  # noqa: E731
        ["./millrace", *words], env=EMPTY, cwd=here, capture_output=True, text=True, timeout=60
    )
    for words in COMMANDS[:6]:
        assert run(*words).returncode == 5, words
    finished = run("info")
    assert finished.returncode == 127
    assert f"{here}/lib/millrace/millrace-tools cannot be run" in finished.stderr
