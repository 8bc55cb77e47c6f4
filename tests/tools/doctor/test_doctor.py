"""`millrace doctor` on real jobs: what is said is what their reports hold, and what cannot be examined is named."""

import json
import pathlib
import re
import signal
import subprocess

import hosts
import pytest
import stopping
from usable import usable

PROGRAM = pathlib.Path(__file__).parent.parent / "compare" / "compared.c"


@pytest.fixture(scope="module")
def programs(tmp_path_factory):
    made = {}

    def build(name):
        if name not in made:
            out = tmp_path_factory.mktemp(name) / "compared"
            made[name] = hosts.compile(usable(name), PROGRAM, out)
        return made[name]

    return build


def doctor(name, words, *options, env=None, **more):
    line = [str(hosts.MILLRACE), "doctor", *map(str, options), "--", *map(str, words)]
    environment = hosts.environment(name, env)
    return subprocess.run(line, env=environment, capture_output=True, text=True, timeout=120, check=False, **more)


def plain(*words, env=None, **more):
    line = [hosts.MILLRACE, "doctor", *words]
    environment = {"PATH": "/usr/bin:/bin", **(env or {})}
    return subprocess.run(line, env=environment, capture_output=True, text=True, timeout=60, check=False, **more)


def finding(file, name):
    found = [each for each in json.loads(file.read_text())["findings"] if each["name"] == name]
    assert len(found) == 1, file.read_text()
    return found[0]


@pytest.mark.parametrize("name", ["openmpi4", "mpich4"])
def test_a_real_run(programs, tmp_path, name):
    file = tmp_path / "found.json"
    done = doctor(name, hosts.command(name, 2, [programs(name), 300, "s"]), "--json", file)
    assert done.returncode == 0, done.stderr
    assert re.fullmatch(r"sum [\d.]+\n", done.stdout), "the job's own output and nothing else"
    title = {"openmpi4": "Open MPI v4", "mpich4": "MPICH Version"}[name]
    assert f"millrace doctor: 2 ranks on 1 node, {title}" in re.sub(r"\s+", " ", done.stderr)
    assert re.search(r"What Millrace did\n(  .*\n)*  MPI_Allreduce: 5\d\d of 600 calls, ", done.stderr)
    assert "as in the first calls on a communicator" in re.sub(r"\s+", " ", done.stderr)
    found = json.loads(file.read_text())
    assert (found["exit_code"], found["ranks"], found["recorded_ranks"]) == (0, 2, 2)
    calls = {call["name"]: call for call in found["calls"]}
    assert calls["MPI_Bcast"]["calls"] == 600 and calls["MPI_Bcast"]["taken"] > 500
    assert "MPI_Init" not in calls
    assert 0 < calls["MPI_Bcast"]["taken_ns"] < calls["MPI_Bcast"]["time_ns"] < found["mpi_ns"] < found["ranks_ns"]
    assert finding(file, "not_agreed")["change"] == "", "eight calls and no more are the price of every communicator"


def test_one_program_among_others_runs_without_millrace(programs, tmp_path):
    program, file = programs("mpich4"), tmp_path / "found.json"
    words = [*hosts.command("mpich4", 1, [program, 40, "s"]), ":", "-n", 1, "env", "MILLRACE=0", program, 40]
    done = doctor("mpich4", words, "--json", file)
    assert done.returncode == 0, done.stderr
    assert "1 of 2 ranks left no record: they run without Millrace" in re.sub(r"\s+", " ", done.stderr)
    assert "every rank with Millrace" in finding(file, "not_agreed")["change"]


def test_reports_of_several_nodes_are_one(programs, tmp_path):
    file = tmp_path / "found.json"
    env = {"MILLRACE_NODE_SPLIT": "1+1", "MILLRACE_NODES": "never"}
    done = doctor("mpich4", hosts.command("mpich4", 2, [programs("mpich4"), 100, "s"]), "--json", file, env=env)
    assert done.returncode == 0, done.stderr
    found = json.loads(file.read_text())
    assert (found["ranks"], found["recorded_ranks"], found["nodes"]) == (2, 2, 2)
    assert finding(file, "one_rank_per_node")["change"] == "more ranks on each node, on fewer nodes"
    assert "unset MILLRACE_NODES: 'never'" in finding(file, "not_agreed")["change"]
    assert {call["name"]: call["calls"] for call in found["calls"]}["MPI_Bcast"] == 200
    assert "missing_nodes" not in [each["name"] for each in found["findings"]]


def test_the_report_of_another_node_is_missing(programs, tmp_path):
    program, file = programs("mpich4"), tmp_path / "found.json"
    words = [*hosts.command("mpich4", 1, [program, 40, "s"]), ":", "-n", 1, "env", "MILLRACE=0", program, 40]
    done = doctor("mpich4", words, "--json", file, env={"MILLRACE_NODE_SPLIT": "1+1"})
    assert done.returncode == 0, done.stderr
    assert "set TMPDIR to a directory that all nodes share" in finding(file, "missing_nodes")["change"]


def test_a_job_that_fails_is_examined_and_said_to(programs, tmp_path):
    file = tmp_path / "found.json"
    done = doctor("mpich4", hosts.command("mpich4", 2, [programs("mpich4"), 40, "sf"]), "--json", file)
    assert done.returncode == 4
    assert "What Millrace did" in done.stderr
    assert "doctor: the job ended with exit code 5; run it without Millrace" in done.stderr.splitlines()[-1]
    assert json.loads(file.read_text())["exit_code"] == 5


@pytest.mark.parametrize(
    ("line", "env", "code", "says"),
    [
        (["--"], {}, 2, "no program after '--'"),
        (["--", "mpirun", "-n", "2", "./missing"], {}, 2, "write 'millrace' in front of it"),
        (["--jsn", "f", "--", "true"], {}, 2, "--jsn"),
        (["--json", "/nowhere/at/all.json", "--", "true"], {}, 2, "/nowhere/at/all.json cannot be written"),
        (["--", "true"], {"MILLRACE": "0"}, 2, "unset MILLRACE"),
        (["--", "true"], {}, 3, "there is no report: true runs without Millrace: it needs no MPI library"),
        (["--", "sh", "-c", "exit 9"], {}, 4, "the job ended with exit code 9; run it without Millrace"),
    ],
)
def test_what_cannot_be_examined_is_named(line, env, code, says):
    done = plain(*line, env=env)
    assert (done.returncode, done.stdout) == (code, "")
    assert says in done.stderr
    assert "What Millrace did" not in done.stderr


def test_a_program_that_never_calls_mpi(programs, tmp_path):
    source = tmp_path / "idle.c"
    source.write_text("#include <mpi.h>\nint main(int n, char **w) { return n > 9 ? MPI_Init(&n, &w) : 0; }\n")
    program = hosts.compile(usable("mpich4"), source, tmp_path / "idle")
    done = doctor("mpich4", hosts.command("mpich4", 2, [program]))
    assert done.returncode == 3, done.stderr
    assert done.stderr.splitlines()[-1].endswith("MILLRACE_LOG=info says more")


def test_the_job_keeps_its_input_and_output():
    done = plain("--", "cat", input="a line\n")
    assert (done.returncode, done.stdout) == (3, "a line\n")


def test_it_can_be_stopped_and_leaves_nothing(tmp_path):
    assert stopping.stop([hosts.MILLRACE, "doctor"], tmp_path) == (128 + signal.SIGTERM, ["pid"])
