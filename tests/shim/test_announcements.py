"""MILLRACE_LOG=info: rank 0 says who stands in front of whom, and of each communicator whether it shares memory."""

import json
import re

import hosts
import pytest
from shim_programs import build, report, run
from test_nodes import pretending
from test_shared_collectives import mixed

INFO = {"MILLRACE_LOG": "info"}
SEED = 5


def said(finished, about):
    return [line for line in finished.check().stderr.splitlines() if line.startswith("millrace: ") and about in line]


@pytest.mark.sampled_hosts
@pytest.mark.parametrize("host", list(hosts.HOSTS))
def test_one_line_each(host):
    program = build(host, "shared_collectives.c")
    finished, result = report(host, 2, program, SEED, 60, env=INFO)
    first = result["by_rank"][0]
    (line,) = said(finished, " in front of ")
    assert line.startswith(f"millrace: preload {hosts.get(host).generation} in front of ")
    assert f", 2 ranks, kernels {first['isa']}" in line
    assert line.endswith(", no tuning table")
    name = line.removesuffix(", no tuning table").split(" in front of ")[1].split(", ")[0]
    version = first["host_mpi"].replace("Version:", "").split(",")[0].split("\n")[0]
    assert name == " ".join(version.split())
    assert said(finished, "MPI_COMM_WORLD") == ["millrace: MPI_COMM_WORLD of 2 ranks: collectives in shared memory"]
    others = said(finished, "a communicator of 2 ranks")
    assert others
    assert set(others) == {"millrace: a communicator of 2 ranks: collectives in shared memory"}
    quiet = run(host, 2, program, SEED, 60).check()
    assert "millrace: " not in quiet.stderr


def test_the_kernels_the_table_and_no_collectives(tmp_path):
    table = tmp_path / "tuning.json"
    table.write_text(json.dumps({"millrace_tuning": 1}))
    env = {**INFO, "MILLRACE_ISA": "scalar", "MILLRACE_TUNING": table, "MILLRACE_COLLECTIVES": "never"}
    finished = run("openmpi4", 2, build("openmpi4", "shared_collectives.c"), SEED, 60, env=env)
    (line,) = said(finished, " in front of ")
    assert line.endswith(f", 2 ranks, kernels scalar, table {table}, MILLRACE_COLLECTIVES=never")
    assert not said(finished, "collectives in shared memory")


def test_why_not():
    """Rank 0 has other settings; it joins nothing, and says so of every communicator that it meets."""
    others = f"env MILLRACE_LOG=info {hosts.MILLRACE}"
    finished = mixed("openmpi4", 3, f"env MILLRACE_DISABLE=Bcast {others}", others)
    host_s = "collectives are the host's: ranks' settings differ"
    assert said(finished, "MPI_COMM_WORLD") == [f"millrace: MPI_COMM_WORLD of 3 ranks: {host_s}"]
    assert not said(finished, "in shared memory")


def test_ranks_that_never_agree():
    """The others run without Millrace: that is known when the communicator ends, and not before."""
    finished = mixed("openmpi4", 3, f"env MILLRACE_LOG=info {hosts.MILLRACE}", "env")
    (line,) = said(finished, "MPI_COMM_WORLD")
    assert re.fullmatch(
        r"millrace: MPI_COMM_WORLD of 3 ranks: all \d+ collectives were the host's: ranks not agreed", line
    )


def test_several_nodes():
    program = build("openmpi4", "shared_collectives.c")
    finished = run("openmpi4", 3, program, SEED, 60, env={**pretending("1+2"), **INFO})
    between = "collectives in shared memory of each node, and between nodes"
    assert said(finished, "MPI_COMM_WORLD") == [f"millrace: MPI_COMM_WORLD of 3 ranks: {between}"]


def test_of_many_communicators_the_first_are_named():
    env = {**INFO, "MILLRACE_COLLECTIVES": "always"}  # else those that live as short are not asked about
    finished = run("openmpi4", 2, build("openmpi4", "many_communicators.c"), 0, 20, env=env)
    assert len(said(finished, "collectives in shared memory")) == 16
    assert len(said(finished, "of further communicators nothing is said")) == 1
