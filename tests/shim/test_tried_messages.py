"""Messages of derived types that are packed by us and left to the host in turns, to see which is faster."""

import json

import hosts
import pytest
from shim_programs import build, call, report

pytestmark = pytest.mark.sampled_hosts

ALWAYS = {"MILLRACE_MEASURE": "always"}
TYPES = ["pairs", "rows", "columns", "structures", "list"]
NAMES = {"openmpi4": "Open MPI 4", "openmpi5": "Open MPI 5", "mpich4": "MPICH 4", "mpich5": "MPICH 5", "abi": "MPICH 5",
         "intel": "Intel MPI 2021"}  # fmt: skip
CLASSES = [
    "mixed",
    "blocks_4",
    "blocks_8",
    "blocks_32",
    "blocks_128",
    "blocks_1024",
    "sparse",
    "list_short",
    "list_long",
]
ROUNDS = 400
BLOCKING, NONBLOCKING, BOTH_WAYS, PERSISTENT = 1, 2, 4, 8


def table_of(tmp_path, row):
    path = tmp_path / "table.json"
    rows = dict.fromkeys(CLASSES, row)
    path.write_text(json.dumps({"millrace_tuning": 1, "messages": {name: rows for name in set(NAMES.values())}}))
    return str(path)


def of(result, name):
    entry = call(result, name)
    return entry["taken"], entry["forwarded_why"]


def run(host, ranks, *arguments, env):
    finished, result = report(host, ranks, build(host, "tried_messages.c"), *arguments, env=env, timeout=300)
    assert finished.check().stdout == "0 wrong\n" * ranks
    return result


@pytest.mark.parametrize("bytes_", [480, 12000, pytest.param(120_000, marks=pytest.mark.full)])
@pytest.mark.parametrize("type_", TYPES)
@pytest.mark.parametrize("host", hosts.HOSTS)
@pytest.mark.parametrize("ranks", [2, pytest.param(3, marks=pytest.mark.full), pytest.param(5, marks=pytest.mark.full)])
def test_whoever_packs_it_is_the_same_message(host, ranks, type_, bytes_):
    few = ranks > 2 and host in ("mpich4", "mpich5", "abi")  # which need slices of time where ranks share cores
    run(host, ranks, type_, bytes_, 40 if few else ROUNDS, env=ALWAYS)


@pytest.mark.parametrize("form, calls", [(BLOCKING, ["Send", "Recv"]), (NONBLOCKING, ["Isend", "Irecv"]),
                                         (BOTH_WAYS, ["Sendrecv"])])  # fmt: skip
@pytest.mark.parametrize("host", hosts.HOSTS)
def test_both_ways_are_tried(host, form, calls, tmp_path):
    """At once where it is the other side's, and no less than one turn of six, however slow that is."""
    for row in ([], [1, None]):
        result = run(host, 2, "pairs", 12000, ROUNDS, form, env={**ALWAYS, "MILLRACE_TUNING": table_of(tmp_path, row)})
        for name in calls:
            taken, why = of(result, f"MPI_{name}")
            hosts_ = sum(why.get(reason, 0) for reason in ("tried", "host_is_faster", "host_was_faster"))
            assert taken + sum(why.values()) == 2 * ROUNDS
            assert taken >= 2 * 6 and hosts_ >= 2 * 6
            # Of what the table has as the host's none is said to be tried: it was ours.
            assert (why.get("tried", 0) > 0) == (row != [])


@pytest.mark.parametrize("env", [{"MILLRACE_MEASURE": "never"}, {**ALWAYS, "MILLRACE_LAYOUTS": "always"}])
def test_nothing_is_tried_where_that_is_asked_for(env, tmp_path):
    env = {**env, "MILLRACE_TUNING": table_of(tmp_path, [1, None])}
    taken, why = of(run("openmpi5", 2, "pairs", 12000, ROUNDS, BLOCKING, env=env), "MPI_Send")
    assert taken == 2 * ROUNDS and not why


def test_few_bytes_and_few_messages_are_not_tried(tmp_path):
    env = {**ALWAYS, "MILLRACE_TUNING": table_of(tmp_path, [])}
    for bytes_, rounds in ((240, ROUNDS), (12000, 15)):
        taken, _ = of(run("openmpi5", 2, "pairs", bytes_, rounds, BLOCKING, env=env), "MPI_Send")
        assert taken == 0


# Beside two processes that keep both cores busy one launch in ten sees too little to be sure.
LAUNCHES = 3


@pytest.mark.parametrize("form, sends", [(BLOCKING, "Send"), (NONBLOCKING, "Isend")])
@pytest.mark.parametrize("host", ["intel", "mpich5"])
def test_a_table_that_is_wrong_by_far_is_put_right(host, form, sends, tmp_path):
    """These hosts need several times as long as we do: beyond what noise can hide."""
    env = {"MILLRACE_TUNING": table_of(tmp_path, [])}
    taken = [of(run(host, 2, "pairs", 60_000, 3000, form, env=env), f"MPI_{sends}")[0] for _ in range(LAUNCHES)]
    assert max(taken) > 2 * 3000 * 0.9


@pytest.mark.parametrize("form", [BLOCKING, NONBLOCKING])
def test_they_are_counted_where_nothing_is_recorded(form, tmp_path):
    """A report takes another way to the host. Both ranks find out."""
    env = {"MILLRACE_TUNING": table_of(tmp_path, []), "MILLRACE_LOG": "info"}
    program = build("intel", "tried_messages.c")
    said = []
    for _ in range(LAUNCHES):
        finished = hosts.run("intel", 2, [program, "pairs", 60_000, 1000, form], millrace=True, env=env, timeout=120)
        assert finished.check().stdout == "0 wrong\n" * 2
        said.append(finished.stderr.count("messages of blocks_32, 57344 bytes and some more: packed by us they take"))
    assert max(said) == 2


def test_persistent_ones_go_as_the_nonblocking_ones_have_shown(tmp_path):
    """Which side does them is fixed when they are made: here before anything was known."""
    env = {**ALWAYS, "MILLRACE_TUNING": table_of(tmp_path, [])}
    taken, why = of(run("openmpi4", 2, "pairs", 12000, 100, PERSISTENT, env=env), "MPI_Send_init")
    assert taken == 0 and why["host_is_faster"] == 2


def test_one_rank_alone(tmp_path):
    """The other one is the host's: what is tried is one side of a message."""
    program = [build("openmpi5", "tried_messages.c"), "pairs", 12000, ROUNDS]
    finished = hosts.run("openmpi5", 1, [*program, ":", "-n", 1, *program], millrace=True, env=ALWAYS, timeout=120)
    assert finished.check().stdout == "0 wrong\n" * 2
