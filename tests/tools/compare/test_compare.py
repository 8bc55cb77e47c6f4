"""`millrace compare` on programs that are faster, slower, the same, and not the same under Millrace."""

import csv
import pathlib
import re
import signal
import subprocess

import hosts
import pytest
import stopping
from usable import usable

HERE = pathlib.Path(__file__).parent


@pytest.fixture(scope="module")
def programs(tmp_path_factory):
    made = {}

    def build(name):
        if name not in made:
            out = tmp_path_factory.mktemp(name) / "compared"
            made[name] = hosts.compile(usable(name), HERE / "compared.c", out)
        return made[name]

    return build


def words(name, program, *arguments):
    return [str(word) for word in hosts.command(name, 2, [program, *arguments])]


def compare(name, program, *options, env=None):
    line = [str(hosts.MILLRACE), "compare", *map(str, options), "--", *words(name, *program)]
    environment = hosts.environment(name, env)
    return subprocess.run(line, env=environment, capture_output=True, text=True, timeout=120, check=False)


@pytest.mark.parametrize("name", ["openmpi4", "mpich4"])
def test_the_same_but_for_times(programs, tmp_path, name):
    files = tmp_path / "runs.csv", tmp_path / "page.html"
    done = compare(name, [programs(name), 200, "st"], "--repeat", 4, "--csv", files[0], "--html", files[1])
    assert done.returncode in (0, 3), done.stdout + done.stderr  # a busy machine may find it slower
    assert "output: the same, but for 1 number that differs without Millrace, too, as in\n  without: to" in done.stdout
    assert "exit codes: the same (0)" in done.stdout
    assert re.search(r"MPI_Allreduce: \d+ of 400 calls", done.stdout)
    assert "millrace compare: 10 runs\n" in done.stderr
    rows = list(csv.DictReader(files[0].open()))
    assert [row["side"] for row in rows] == ["without"] * 4 + ["with"] * 4
    assert all(float(row["seconds"]) > 0 for row in rows)
    assert files[1].read_text().count("<circle") == 8


@pytest.mark.parametrize(
    ("what", "code", "says"),
    [
        ("m", 1, "output: differs in a number, by a share of "),
        ("w", 1, "output: differs\n  without: \n  with:    a word\n"),
        ("es", 1, "exit codes: 0 without Millrace, 3 with it"),
    ],
)
def test_what_is_not_the_same_is_said(programs, what, code, says):
    done = compare("mpich4", [programs("mpich4"), 10, what], "--repeat", 2)
    assert done.returncode == code, done.stdout + done.stderr
    assert says in done.stdout
    assert "too few runs to tell" in done.stdout


def test_lines_and_shares_can_be_left_out(programs):
    program = [programs("mpich4"), 10, "wms"]
    done = compare("mpich4", program, "--repeat", 2, "--ignore", "^a w", "--ignore", "^number")
    assert done.returncode == 0 and "output: the same in every run" in done.stdout, done.stdout
    done = compare("mpich4", program, "--repeat", 2, "--ignore", "^a w", "--tolerance", "0.1")
    assert done.returncode == 0 and "output: the same in every run" in done.stdout, done.stdout


def test_a_job_that_is_slower_or_faster_is_said_to_be(programs):
    # 150 ms of sleep on one side are more than the noise of any machine that runs the tests.
    for what, code, says in (("d", 3, "is slower"), ("D", 0, "is faster")):
        for attempt in range(3):  # unless one run of the fast side hung in between
            done = compare("mpich4", [programs("mpich4"), 10, what], "--repeat", 4)
            if says in done.stdout or attempt == 2:
                break
        assert says in done.stdout and done.returncode == code, done.stdout


@pytest.mark.parametrize(
    ("line", "env", "code", "says"),
    [
        (["--"], {}, 2, "no program after '--'"),
        (["--", "mpirun", "-n", "2", "./missing"], {}, 2, "write 'millrace' in front of it"),
        (["--ignore", "(", "--", "true"], {}, 2, "no regular expression"),
        (["--repeat", "-1", "--", "true"], {}, 2, "not in range"),
        (["--", "true"], {"MILLRACE": "0"}, 2, "unset MILLRACE"),
        (["--", "sh", "-c", "echo broken >&2; exit 9"], {}, 4, "exit code 9 without Millrace: broken"),
    ],
)
def test_what_cannot_be_compared_is_named(line, env, code, says):
    command = [hosts.MILLRACE, "compare", *line]
    environment = {"PATH": "/usr/bin:/bin", **env}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=60, check=False)
    assert (done.returncode, done.stdout) == (code, "")
    assert says in done.stderr


def test_a_program_without_mpi_is_compared_as_well():
    done = subprocess.run(
        [hosts.MILLRACE, "compare", "--repeat", "4", "--", "echo", "x"], capture_output=True, text=True, timeout=60
    )
    assert "output: the same in every run" in done.stdout
    assert "wrote none" in done.stdout


def test_it_can_be_stopped(tmp_path):
    assert stopping.stop([hosts.MILLRACE, "compare"], tmp_path) == (128 + signal.SIGTERM, ["pid"])
