"""What a run shows of who does its collectives faster, kept in a table by which later runs choose: `millrace learn`."""

import json
import os
import signal
import subprocess

import hosts
import pytest
from shim_programs import build, call, report, run

SEED, CALLS = 77, 5000
KINDS = ["barrier", "bcast", "reduce", "allreduce", "gather", "scatter", "allgather", "alltoall",
         "scan", "exscan", "reduce_scatter"]  # fmt: skip


def rows_in(path):
    """All rows of a table that holds one place."""
    learned = json.loads(path.read_text())["learned"]["machines"]
    (places,) = learned.values()
    (rows,) = places.values()
    return rows


def change_rows(path, **values):
    table = json.loads(path.read_text())
    for places in table["learned"]["machines"].values():
        for rows in places.values():
            for row in rows:
                row.update(values)
    path.write_text(json.dumps(table))


def learn(host, ranks, table, calls=CALLS):
    finished = run(host, ranks, build(host, "measured_calls.c"), SEED, calls, env={"MILLRACE_LEARN": table})
    assert all(" 0 wrong," in line for line in finished.check().stdout.splitlines())
    return finished


def learn_every_class(host, ranks, table):
    """On a busy machine one run does not try them all: until three in a row show none that was not there."""
    runs_without_news = rows = 0
    for _ in range(15):
        learn(host, ranks, table)
        runs_without_news = 0 if len(rows_in(table)) > rows else runs_without_news + 1
        rows = len(rows_in(table))
        if runs_without_news == 3:
            return


@pytest.mark.parametrize("host", hosts.HOSTS)
def test_a_run_is_learned_from(host, tmp_path):
    table = tmp_path / "table.json"
    finished = learn(host, 2, table)
    assert finished.stderr == "" and os.listdir(tmp_path) == ["table.json"]
    rows = rows_in(table)
    assert {row["call"] for row in rows} == set(KINDS)
    assert {row["ranks"] for row in rows} == {2} and {row["done_by"] for row in rows} > {"ours"}
    trials = sum(row["trials"] for row in rows)
    learn(host, 2, table)  # runs add up
    assert sum(row["trials"] for row in rows_in(table)) > trials


@pytest.mark.parametrize("host", ["openmpi5", "mpich4", "intel"])
def test_what_was_learned_is_done(host, tmp_path):
    """Also of sums of doubles: the table is fixed before the run."""
    table = tmp_path / "table.json"
    learn_every_class(host, 2, table)
    environment = {"MILLRACE_TUNING": table, "MILLRACE_MEASURE": "never"}
    taken = {}
    for side in "ours", "host":
        change_rows(table, done_by=side)
        finished, result = report(host, 2, build(host, "measured_calls.c"), SEED, 500, env=environment)
        assert all(" 0 wrong," in line for line in finished.check().stdout.splitlines())
        for name in ("Barrier", "Allreduce", "Bcast", "Alltoall"):
            taken[side, name] = call(result, f"MPI_{name}")["taken"]
    for name in ("Barrier", "Allreduce", "Bcast", "Alltoall"):
        assert taken["host", name] < 0.3 * taken["ours", name]


def test_bits_hang_on_the_table_alone(tmp_path):
    table = tmp_path / "table.json"
    learn("openmpi4", 3, table)
    program = build("openmpi4", "measured_calls.c")
    for side in "ours", "host":
        change_rows(table, done_by=side)
        runs = [run("openmpi4", 3, program, SEED, 2000, env={"MILLRACE_TUNING": table, "MILLRACE_MEASURE": when})
                for when in ("auto", "always", "never")]  # fmt: skip
        digests = {tuple(sorted(finished.check().stdout.splitlines())) for finished in runs}
        assert len(digests) == 1


@pytest.mark.parametrize("change, complaint", [
    (lambda text: text.replace('"version": "', '"version": "0.'), "is of another version"),
    (lambda text: text.replace("processors", "processors, of another kind"), "nothing was learned for Open MPI"),
    (lambda text: text.replace(" 3 ranks", " 64 ranks"), "nothing was learned for Open MPI"),
    (lambda text: text[: len(text) // 2], "is not a tuning table"),
])  # fmt: skip
def test_what_does_not_hold_here_is_ignored_in_one_line(change, complaint, tmp_path):
    table = tmp_path / "table.json"
    learn("openmpi5", 3, table, 1000)
    change_rows(table, done_by="host")
    table.write_text(change(table.read_text()))
    program = build("openmpi5", "measured_calls.c")
    finished, result = report("openmpi5", 3, program, SEED, 500, env={"MILLRACE_TUNING": table})
    said = [line for line in finished.stderr.splitlines() if line.startswith("millrace: ")]
    assert len(said) == 1 and complaint in said[0]
    assert call(result, "MPI_Barrier")["taken"] > 100


@pytest.mark.parametrize("place", ["directory/that/is/not", "a directory", "a letter"])
def test_a_place_that_cannot_be_written(place, tmp_path):
    """Said before the run; the program runs as ever."""
    table = tmp_path / place
    if place == "a directory":
        table.mkdir()
    elif place == "a letter":
        table.write_text("Dear reader,")
    finished = run("openmpi5", 2, build("openmpi5", "measured_calls.c"), SEED, 500, env={"MILLRACE_LEARN": table})
    said = [line for line in finished.check().stderr.splitlines() if "millrace: " in line]
    assert len(said) == 1 and "cannot be written" in said[0]
    assert place != "a letter" or table.read_text() == "Dear reader,"


def millrace_learn(host, ranks, *words, options=(), program):
    line = [hosts.MILLRACE, "learn", *options, "--", *hosts.command(host, ranks, [*words, *program])]
    return subprocess.run(
        [str(word) for word in line], env=hosts.environment(host, hosts.get(host).run_environment),
        capture_output=True, text=True, timeout=120,
    )  # fmt: skip


@pytest.mark.parametrize("host", hosts.HOSTS)
def test_the_command(host, tmp_path):
    table = tmp_path / "new" / "table.json"
    program = [build(host, "measured_calls.c"), SEED, CALLS]
    finished = millrace_learn(host, 2, options=["--out", table], program=program)
    assert finished.returncode == 0, finished.stderr
    assert "classes of calls" in finished.stderr and str(table) in finished.stderr
    assert finished.stdout.count(" 0 wrong,") == 2
    before = sum(row["trials"] for row in rows_in(table))
    finished = millrace_learn(host, 2, hosts.MILLRACE, options=["--out", table], program=program)
    assert finished.returncode == 0, finished.stderr
    assert sum(row["trials"] for row in rows_in(table)) > before


def test_the_command_passes_the_exit_code_on(tmp_path):
    table = tmp_path / "table.json"
    finished = millrace_learn("openmpi5", 1, options=["--out", table], program=["/bin/sh", "-c", "exit 7"])
    assert finished.returncode == 7 and "millrace learn: nothing" in finished.stderr
    finished = millrace_learn("openmpi5", 1, options=["--out", "/proc/table.json"], program=["/bin/sh", "-c", "exit 7"])
    assert finished.returncode == 7 and "cannot be written" in finished.stderr


def test_the_command_says_what_is_missing():
    for words in (["learn"], ["learn", "--"], ["learn", "--", "mpirun", "-n", "2"], ["learn", "--colour", "--", "x"]):
        finished = subprocess.run([str(hosts.MILLRACE), *words], capture_output=True, text=True, timeout=20)
        assert finished.returncode == 2 and finished.stderr.count("\n") <= 2, finished.stderr


@pytest.mark.parametrize("host", ["openmpi5", "mpich5", "intel"])
def test_advice_is_what_was_measured(host):
    """A setting that saves 200 ms of a run is seen, one that fails does no harm, and nothing is left behind."""
    program = [build(host, "slow_unless_set.c")]
    options = ["--advise", "--repeat", "2", "--try", "FASTER=1", "--try", "FAILS=1"]
    finished = millrace_learn(host, 2, options=options, program=program)
    assert finished.returncode == 0, finished.stderr
    assert finished.stdout.splitlines().count("ran") == 1, "the program is seen once"
    (faster,) = [line for line in finished.stdout.splitlines() if "FASTER=1" in line and "(faster)" in line]
    assert "MPI_Barrier" in faster
    assert any(line.split() == ["failed", "FAILS=1"] for line in finished.stdout.splitlines())
    assert "faster in every run:\n    FASTER=1\n" in finished.stdout


def test_advice_of_a_program_that_fails():
    program = ["/bin/sh", "-c", "exit 7"]
    assert millrace_learn("openmpi5", 1, options=["--advise"], program=program).returncode == 7
    program = ["/bin/sh", "-c", "exit 0"]
    finished = millrace_learn("openmpi5", 1, options=["--advise"], program=program)
    assert finished.returncode == 2 and "wrote no report" in finished.stderr
    finished = millrace_learn("openmpi5", 1, options=["--advise", "--try", "NAME"], program=program)
    assert finished.returncode == 2 and "must be NAME=VALUE" in finished.stderr


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_advice_can_be_stopped(number, tmp_path):
    """No run follows the one that was ended, and nothing is left."""
    program = [build("openmpi5", "slow_unless_set.c")]
    command = hosts.command("openmpi5", 2, program)
    line = [hosts.MILLRACE, "learn", "--advise", "--repeat", "100", "--", *command]
    extra = {**hosts.get("openmpi5").run_environment, "TMPDIR": str(tmp_path)}
    running = subprocess.Popen([str(word) for word in line], env=hosts.environment("openmpi5", extra),
                               stderr=subprocess.PIPE, text=True, start_new_session=True)  # fmt: skip
    assert "100 runs of each" in running.stderr.readline()  # the first run is over
    os.killpg(running.pid, number)  # as from the keyboard
    assert running.wait(timeout=30) == 128 + number
    assert not list(tmp_path.glob("millrace-*"))
