"""Tuning tables: read when MPI starts, agreed upon, and refused in one line if they are not what this version reads."""

import json
import os
import re
import subprocess

import hosts
import pytest
from shim_programs import build, call, report

SEED = 3
CLASSES = (
    "mixed", "blocks_4", "blocks_8", "blocks_32", "blocks_128", "blocks_1024", "sparse", "list_short", "list_long",
)  # fmt: skip


@pytest.fixture
def table(tmp_path):
    def write(name="tuning.json", **parts):
        path = tmp_path / name
        path.write_text(json.dumps({"millrace_tuning": 1, **parts}))
        return path

    return write


def test_messages_go_by_the_table(table):
    program = [build("openmpi5", "layouts_messages.cpp"), 21, 12, "all"]
    nothing = {"messages": {"Open MPI 5": {name: [] for name in CLASSES}}}
    _, result = report("openmpi5", 2, *program)
    assert call(result, "MPI_Isend")["taken"] > 0
    env = {"MILLRACE_TUNING": table(**nothing), "MILLRACE_MEASURE": "never"}
    _, result = report("openmpi5", 2, *program, env=env)
    assert call(result, "MPI_Isend")["taken"] == 0


def test_the_standard_place(table, tmp_path):
    (tmp_path / "millrace").mkdir()
    table("millrace/tuning.json", colour="blue")
    program = build("openmpi5", "shared_collectives.c")
    environment = {"XDG_CONFIG_HOME": tmp_path}
    finished = hosts.run("openmpi5", 2, [program, SEED, 20], millrace=True, env=environment).check()
    assert finished.stderr.count("'colour' is unknown") == 1
    finished = hosts.run(
        "openmpi5", 2, [program, SEED, 20], millrace=True, env={**environment, "MILLRACE_TUNING": "none"}
    ).check()
    assert "colour" not in finished.stderr


def test_another_version_is_refused_in_one_line(table):
    program = build("openmpi5", "shared_collectives.c")
    path = table(millrace_tuning=2, copies={"permute_from_bytes": 1})
    finished = hosts.run("openmpi5", 2, [program, SEED, 20], millrace=True, env={"MILLRACE_TUNING": path}).check()
    assert finished.stderr.count("is not a tuning table of version 1") == 1


def test_ranks_with_different_tables_do_not_share_collectives(table):
    """Nothing but the tables' text differs: both lie at the standard place of a home of their own."""
    program = build("openmpi5", "shared_collectives.c")
    one, other = table("one.json"), table("other.json", collectives={"bcast_chunk_bytes": 8192})
    for rank, path in enumerate((one, other)):
        (one.parent / f"home{rank}" / "millrace").mkdir(parents=True)
        (one.parent / f"home{rank}" / "millrace" / "tuning.json").write_text(path.read_text())
    taken = {}
    for name, homes in (("same", ("home0", "home0")), ("different", ("home0", "home1"))):
        result_path = one.parent / f"{name}.json"
        script = (
            f'home={homes[0]}; [ "$OMPI_COMM_WORLD_RANK" = 0 ] || home={homes[1]}; '
            f'XDG_CONFIG_HOME={one.parent}/$home exec {hosts.MILLRACE} "$@"'
        )
        hosts.run(
            "openmpi5", 2, ["sh", "-c", script, "sh", program, SEED, 100], env={"MILLRACE_REPORT": result_path}
        ).check()
        taken[name] = call(json.loads(result_path.read_text()), "MPI_Barrier")["taken"]
    assert taken["same"] > 0
    assert taken["different"] == 0


def test_tune_writes_a_table_that_is_read(tmp_path):
    path = tmp_path / "deep" / "tuning.json"
    kept = {"messages": {"Intel MPI 2021": {"mixed": [64, None]}}, "collectives": {"pair_chunk_bytes": 8192}}
    for turn in range(2):  # the second finds the first's table, with parts that are not measured
        tuned = subprocess.run(
            [hosts.MILLRACE, "tune", "--out", path], capture_output=True, text=True, timeout=120, check=True
        )
        assert tuned.stdout == f"{path}\n"
        assert "millrace tune: copies\n" in tuned.stderr
        assert re.search(r"^lists of blocks are packed (by|without) gather instructions", tuned.stderr, re.MULTILINE)
        table = json.loads(path.read_text())
        assert {"permute_from_bytes", "gather_lists", "stream_from_bytes"} <= set(table["copies"])
        assert (table.get("messages"), table.get("collectives")) == (
            (kept["messages"], kept["collectives"]) if turn else (None, None)
        )
        path.write_text(json.dumps({**table, **kept}))
    environment = {"MILLRACE_TUNING": path}
    finished = hosts.run(
        "openmpi5", 2, [build("openmpi5", "shared_collectives.c"), SEED, 20], millrace=True, env=environment
    )
    assert finished.check().stderr == ""


def test_tune_can_be_undone(table):
    path = table()
    for said in ("is deleted", "there is no table"):
        done = subprocess.run(
            [hosts.MILLRACE, "tune", "--reset", "--out", path], capture_output=True, text=True, timeout=20, check=True
        )
        assert said in done.stdout and not path.exists()
    path.mkdir()
    (path / "file").touch()
    done = subprocess.run(
        [hosts.MILLRACE, "tune", "--reset", "--out", path], capture_output=True, text=True, timeout=20, check=False
    )
    assert done.returncode == 1 and "cannot be deleted" in done.stderr


def tune_messages(host, path):
    """`millrace tune --quick -- LAUNCHER -n 2` with this host's launcher."""
    line = [str(word) for word in hosts.get(host).launcher]
    environment = {**os.environ, **{key: str(value) for key, value in hosts.get(host).environment.items()}}
    words = [hosts.MILLRACE, "tune", "--quick", "--out", path, "--", *line, "-n", "2"]
    return subprocess.run(words, capture_output=True, text=True, timeout=280, env=environment)


@pytest.mark.parametrize(
    ("host", "family"), [("openmpi5", "Open MPI 5"), ("mpich5", "MPICH 5"), ("intel", "Intel MPI 2021")]
)
def test_tune_measures_messages_under_the_users_launcher(tmp_path, host, family):
    path = tmp_path / "tuning.json"
    tuned = tune_messages(host, path)
    assert tuned.returncode == 0, tuned.stderr
    table = json.loads(path.read_text())
    assert list(table["messages"]) == [family]
    rows = table["messages"][family]
    assert set(rows) == set(CLASSES)
    assert all(row == [] or row[1] is None or row[0] <= row[1] for row in rows.values())
    finished = hosts.run(
        host, 2, [build(host, "layouts_messages.cpp"), 21, 12, "all"], millrace=True, env={"MILLRACE_TUNING": path}
    )
    assert "millrace" not in finished.check().stderr


@pytest.mark.parametrize(
    ("line", "complaint"),
    [
        (["no-such-launcher", "-n", "2"], "no-such-launcher: not found; give the launcher's path"),
        (["true"], "'true' started no MPI program"),
        (["env"], "it belongs to no MPI that Millrace knows"),
        ([], "no launcher after '--': millrace tune -- mpirun -n 2"),
        ([*map(str, hosts.get("mpich4").launcher), "-n", "3"], "starts 3 ranks, but messages go between 2: -n 2"),
    ],
)
def test_tune_names_what_is_wrong_with_a_launcher(tmp_path, line, complaint):
    words = [hosts.MILLRACE, "tune", "--out", tmp_path / "tuning.json", "--", *line]
    tuned = subprocess.run(words, capture_output=True, text=True, timeout=60)
    assert tuned.returncode != 0
    assert complaint in tuned.stderr and tuned.stderr.count("\n") == 1
    assert not (tmp_path / "tuning.json").exists()
