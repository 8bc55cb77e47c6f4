"""Ranks on two nodes that are network namespaces, started by the hosts' own launchers."""

import json

import hosts
import nodes
import pytest
from shim_programs import OUT, build

WHY_NOT = nodes.missing()
pytestmark = pytest.mark.skipif(WHY_NOT is not None, reason=str(WHY_NOT))
EVERYTHING = {"MILLRACE_COLLECTIVES": "always", "MILLRACE_PMPI": "alike"}
FIVE = ["openmpi4", "mpich4", "openmpi5", "mpich5", "intel"]


@pytest.fixture(scope="module")
def two():
    with nodes.Nodes(2) as made:
        yield made


def taken(two, finished, path):
    """What each node's report says was done over nodes."""
    assert finished.returncode == 0, finished.stdout + finished.stderr
    found = sorted(OUT.glob(f"{path.stem}.*.json"))
    assert [each.stem.rsplit(".", 1)[-1] for each in found] == two.names
    reports = [json.loads(each.read_text())["calls"] for each in found]
    return [
        {a["name"] for call in calls for a in call["algorithms"] if a["name"].startswith("nodes_")} for calls in reports
    ]


def report_path(name):
    path = OUT / f"namespaces-{name}.json"
    for old in OUT.glob(f"{path.stem}.*.json"):
        old.unlink()
    return path


@pytest.mark.parametrize("host", FIVE)
def test_reductions(two, host):
    program = build(host, "shared_collectives.c")
    path = report_path(host)
    env = {**EVERYTHING, "MILLRACE_NODES": "always", "MILLRACE_REPORT": path}
    finished = two.run(host, 2, [program, 77, 150], millrace=True, env=env)
    assert finished.stdout.startswith("done"), finished.stdout
    for names in taken(two, finished, path):
        assert {"nodes_barrier", "nodes_bcast", "nodes_reduce", "nodes_allreduce"} <= names


# Of random derived types Open MPI 5 alone gathers other bytes over TCP than within a node, and so does Intel MPI.
@pytest.mark.parametrize("host", ["openmpi4", "mpich4", "mpich5"])
def test_exchanges(two, host):
    program = build(host, "exchanges.cpp", "-std=c++20")
    path = report_path(f"exchanges-{host}")
    env = {**EVERYTHING, "MILLRACE_NODES": "always", "MILLRACE_REPORT": path}
    finished = two.run(host, 2, [program, 8410, 200], millrace=True, env=env)
    assert finished.stdout == "done\n"
    for names in taken(two, finished, path):
        assert {"nodes_gather", "nodes_scatter", "nodes_allgather", "nodes_alltoall"} <= names


@pytest.mark.parametrize("host", ["openmpi4", "mpich4", "openmpi5", "mpich5"])
def test_in_front_of_the_launcher(two, host):
    """Its options and its mark reach the other node, whatever the launcher does with variables."""
    program = build(host, "shared_collectives.c")
    path = report_path(f"front-{host}")
    env = {**EVERYTHING, "MILLRACE_NODES": "auto"}
    front = [hosts.MILLRACE, f"--report={path}"]
    finished = two.run(host, 2, [program, 77, 150], env=env, front=front)
    assert finished.stdout.startswith("done"), finished.stdout
    for names in taken(two, finished, path):
        assert "nodes_allreduce" in names


def test_one_rank_without_millrace(two):
    """Nobody waits for it: nothing says that all are there."""
    program = build("mpich4", "shared_collectives.c")
    wrapper = two.directory / "wrapper"
    wrapper.write_text(f'#!/bin/sh\n[ $PMI_RANK = 0 ] && exec "$@"\nexec {hosts.MILLRACE} "$@"\n')
    wrapper.chmod(0o755)
    finished = two.run("mpich4", 1, [wrapper, program, 77, 100], env={**EVERYTHING, "MILLRACE_NODES": "auto"})
    assert (finished.returncode, finished.stdout) == (0, "done\n"), finished.stderr
