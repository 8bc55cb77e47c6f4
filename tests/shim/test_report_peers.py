"""Who sent how much to whom, as the report has it and as the program counted it itself."""

import json

import hosts
import pytest
from shim_programs import OUT, build, report, run

pytestmark = pytest.mark.sampled_hosts
HOSTS = list(hosts.HOSTS)
WITH_FORTRAN = [
    (name, interface)
    for name, host in hosts.HOSTS.items()
    for interface in ("mpi", "mpi_f08")
    if interface in host.fortran_interfaces
]


def program_of(host):
    # Of Open MPI 5, MPI_Precv_init does not find what is sent to the same rank under the same tag.
    partitioned = ["-DPARTITIONED"] if host in ("mpich4", "mpich5", "abi") else []
    return build(host, "peers.c", "-pthread", *partitioned)


def counted(finished):
    """(from, to): (messages, bytes), and the sum of what went to others."""
    pairs, others = {}, [0, 0]
    for line in finished.stdout.splitlines():
        source, to, messages, size = map(int, line.split())
        if to >= 0:
            pairs[source, to] = (messages, size)
        else:
            others[0] += messages
            others[1] += size
    return pairs, tuple(others)


def reported(*reports):
    pairs, others = {}, [0, 0]
    for peers in (one["peers"] for one in reports):
        assert peers["block_ranks"] == 1
        for pair in peers["matrix"]:
            key = pair["from"], pair["to"]
            assert key not in pairs
            pairs[key] = (pair["messages"], pair["bytes"])
        others[0] += peers["others"]["messages"]
        others[1] += peers["others"]["bytes"]
    return pairs, tuple(others)


@pytest.mark.parametrize("host", HOSTS)
@pytest.mark.parametrize("layouts", ["always", "never"])
def test_every_call_that_sends(host, layouts):
    finished, result = report(host, 3, program_of(host), env={"MILLRACE_LAYOUTS": layouts})
    expected = counted(finished)
    assert len(expected[0]) == 6
    assert reported(result) == expected
    peers = result["peers"]
    assert (peers["messages"], peers["bytes"]) == tuple(
        sum(count[i] for count in expected[0].values()) + expected[1][i] for i in range(2)
    )
    most = max(expected[0].values(), key=lambda count: count[1])
    assert (peers["foremost"][0]["messages"], peers["foremost"][0]["bytes"]) == most


@pytest.mark.parametrize("host", HOSTS)
def test_without_collectives_of_ours(host):
    finished, result = report(host, 2, program_of(host), env={"MILLRACE_COLLECTIVES": "never"})
    assert reported(result) == counted(finished)


@pytest.mark.parametrize("host", HOSTS)
def test_threads(host):
    finished, result = report(host, 2, program_of(host), "threads")
    assert reported(result) == counted(finished)


@pytest.mark.parametrize("host", HOSTS)
def test_processes_that_are_spawned_are_others(host, tmp_path):
    program, path = program_of(host), tmp_path / "run.json"
    if run(host, 2, program, "spawn", millrace=False).returncode != 0:
        pytest.skip(f"{host} cannot spawn here")
    finished = run(host, 2, program, "spawn", env={"MILLRACE_REPORT": path}).check()
    parents = json.loads(path.read_text())
    assert counted(finished)[1][0] > 0
    assert reported(parents) == counted(finished)
    found = list(tmp_path.glob("run.*.json"))
    if not found and host not in ("mpich4", "intel"):
        return  # others start children without the environment of their parents
    (children,) = found
    pairs, others = reported(json.loads(children.read_text()))
    # To each other 4 bytes times the turn, and to two parents each, over both ways.
    assert set(pairs) == {(0, 1), (1, 0)}
    assert others[0] == 2 * 2 + 2


@pytest.mark.parametrize("host", HOSTS)
def test_ranks_of_other_nodes_have_their_numbers(host, tmp_path):
    env = {"MILLRACE_REPORT": tmp_path / "run.json", "MILLRACE_NODE_SPLIT": "1+2", "MILLRACE_LOG": "error"}
    finished = run(host, 3, program_of(host), env=env).check()
    found = [json.loads(path.read_text()) for path in tmp_path.glob("*.json")]
    assert len(found) == 2
    assert reported(*found) == counted(finished)


@pytest.mark.parametrize("host, interface", WITH_FORTRAN)
def test_fortran(host, interface):
    flags = ["-cpp", "-fallow-argument-mismatch"] + (["-DF08"] if interface == "mpi_f08" else [])
    (OUT / host).mkdir(parents=True, exist_ok=True)
    program = build(host, "peers.F90", *flags, name=f"peers_{interface}")
    finished, result = report(host, 2, program)
    assert finished.stdout.strip() == "done"
    sent = 40 + 160 + 0 + 3 * 28
    assert reported(result) == ({(0, 1): (3 + 3 + 1, sent + 20), (1, 0): (1, 20)}, (0, 0))
