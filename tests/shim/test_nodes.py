"""Collectives of ranks on several nodes, which are pretended: each has a board, and so shared memory, of its own."""

import json
import os

import hosts
import process
import pytest
from shim_programs import OUT, build, run

pytestmark = pytest.mark.sampled_hosts

PRETENDED = {"MILLRACE_NODES": "always", "MILLRACE_PMPI": "alike", "MILLRACE_COLLECTIVES": "always"}
SEED = 77
MIB = 1 << 20
REDUCTIONS = {"nodes_barrier", "nodes_bcast", "nodes_reduce", "nodes_allreduce", "nodes_reduce_scatter"}
REDUCTIONS |= {"nodes_scan", "nodes_exscan"}
# MPICH 4.0 gets MIN of uint16_t wrong, in the calls before ranks agree.
RIGHT_ALONE = [name for name in hosts.HOSTS if name != "mpich4"]


def pretending(split, **more):
    return {**PRETENDED, "MILLRACE_NODE_SPLIT": split, **more}


def of_nodes(host, ranks, *arguments, **options):
    """Runs a program: what became of it, the names of its nodes, and the report of each."""
    path = OUT / f"nodes-{host}-{ranks}.json"
    for old in OUT.glob(f"{path.stem}.*.json"):
        old.unlink()
    env = {**options.pop("env"), "MILLRACE_REPORT": str(path)}
    finished = run(host, ranks, *arguments, env=env, **options)
    found = sorted(OUT.glob(f"{path.stem}.*.json"))
    return finished, [each.stem.rsplit(".", 1)[-1] for each in found], found


def taken(path):
    calls = json.loads(path.read_text())["calls"]
    return {algorithm["name"] for each in calls for algorithm in each["algorithms"]}


@pytest.mark.parametrize(
    "host, ranks, split",
    [("openmpi4", 3, "1+2"), ("openmpi4", 7, "2+1+4"), ("openmpi4", 5, "1,0,2,0,1")]
    + [("openmpi4", 5, "2+1+1+1"), ("openmpi4", 7, "1+1+2+1+1+1")]  # letters to all at once, and in rounds
    + [(host, 4, split) for host in RIGHT_ALONE for split in ("2+2", "0,1,0,1")],
)
def test_reductions(host, ranks, split):
    program = build(host, "shared_matrix.c", "-ffp-contract=off")
    finished, nodes, found = of_nodes(host, ranks, program, SEED, 10**6, 2 * MIB, env=pretending(split), timeout=300)
    assert finished.stdout.startswith("done "), finished.stdout
    assert len(nodes) == (len(set(split.split(","))) if "," in split else len(split.split("+")))
    for path in found:
        assert taken(path) >= REDUCTIONS


@pytest.mark.parametrize(
    "host, ranks, split",
    [("openmpi4", 7, "2+1+4"), ("openmpi4", 5, "1,0,2,0,1")] + [(host, 4, "0,1,0,1") for host in RIGHT_ALONE],
)
def test_rank_order(host, ranks, split):
    """Each result is the left fold in rank order to the last bit, wherever ranks lie."""
    program = build(host, "shared_matrix.c", "-ffp-contract=off")
    # MPICH 5 asserts in its own MPI_Reduce_scatter in place, so it gets none.
    collectives = "always" if host in ("mpich5", "abi") else "auto"
    env = pretending(split, MILLRACE_COLLECTIVES=collectives, MILLRACE_ORDER="rank")
    finished, _, found = of_nodes(host, ranks, program, SEED, 10**6, 2 * MIB, "ours", env=env, timeout=300)
    assert finished.stdout.startswith("done "), finished.stdout
    for path in found:
        assert taken(path) >= REDUCTIONS


# Not Intel MPI, whose own Allgather of derived types is what is wrong there.
@pytest.mark.parametrize(
    "host, ranks, split",
    [("openmpi4", 5, "2+3"), ("openmpi4", 3, "0,1,0")] + [(host, 4, "2+2") for host in hosts.HOSTS if host != "intel"],
)
def test_exchanges(host, ranks, split):
    program = build(host, "exchanges.cpp", "-std=c++20")
    finished, _, found = of_nodes(host, ranks, program, 8410, 300, env=pretending(split), timeout=300)
    assert finished.stdout == "done\n"
    for path in found:
        assert {"nodes_gather", "nodes_scatter", "nodes_allgather", "nodes_alltoall"} <= taken(path)
        (uneven,) = (call for call in json.loads(path.read_text())["calls"] if call["name"] == "MPI_Allgatherv")
        assert uneven["taken"] > 0


def test_allgatherv_is_the_hosts_by_itself():
    """Open MPI is slower at MPI_Allgather of larger blocks, not at this."""
    env = pretending("2+2", MILLRACE_COLLECTIVES="auto")
    program = build("openmpi4", "exchanges.cpp", "-std=c++20")
    finished, _, found = of_nodes("openmpi4", 4, program, 8410, 1200, env=env, timeout=300)
    assert finished.stdout == "done\n"
    for path in found:
        calls = {each["name"]: each for each in json.loads(path.read_text())["calls"]}
        assert calls["MPI_Allgather"]["taken"] > 0
        assert calls["MPI_Allgatherv"]["taken"] == 0
        assert calls["MPI_Allgatherv"]["forwarded_why"]["host_is_faster"] > 0


@pytest.mark.parametrize(
    "host, ranks, split",
    [("openmpi4", 5, "2+1+2"), ("openmpi4", 3, "0,1,0")] + [(host, 4, "2+2") for host in hosts.HOSTS],
)
def test_calls_are_tried(host, ranks, split):
    """Whoever goes another way than the rest hangs, or gets other data."""
    calls = 1600 if host in ("mpich4", "mpich5", "abi") else 6000  # which need tens of ms a call with few cores
    env = pretending(split, MILLRACE_MEASURE="always", MILLRACE_COLLECTIVES="auto")
    finished, _, found = of_nodes(host, ranks, build(host, "measured_calls.c"), SEED, calls, env=env, timeout=300)
    told = sorted(finished.check().stdout.splitlines())
    assert len(told) == ranks
    assert all(" 0 wrong," in line for line in told), told
    tried = {}
    for path in found:
        for each in json.loads(path.read_text())["calls"]:
            tried[each["name"]] = tried.get(each["name"], 0) + each["forwarded_why"].get("tried", 0)
    assert sum(tried.values()) > 0, "nothing was tried"
    if split == "2+2":  # no communicator of the program has ranks of one node alone
        assert sum(tried.get(name, 0) for name in ("MPI_Bcast", "MPI_Reduce", "MPI_Gather", "MPI_Scatter")) == 0


def test_what_is_the_hosts_says_why():
    program = build("openmpi4", "exchanges.cpp", "-std=c++20")
    _, _, found = of_nodes("openmpi4", 4, program, 8410, 300, env=pretending("2+2"), timeout=300)
    for path in found:
        calls = {each["name"]: each for each in json.loads(path.read_text())["calls"]}
        assert calls["MPI_Alltoallv"]["forwarded_why"]["not_over_nodes"] > 0
        assert calls["MPI_Neighbor_alltoall"]["forwarded_why"]["not_over_nodes"] > 0


def test_without_a_proof_nobody_waits():
    """On MPICH nothing says who is there, and ranks run without Millrace."""
    program = build("mpich4", "shared_collectives.c")
    env = pretending("1+1", MILLRACE_NODES="auto")
    finished = run("mpich4", 2, program, SEED, 200, env=env)
    assert (finished.returncode, finished.stdout) == (0, "done\n")


def test_ranks_that_never_come_end_the_job():
    program = build("openmpi4", "shared_collectives.c")
    host = hosts.get("openmpi4")
    words = [
        *hosts.command(host, 1, [program, SEED, 100], millrace=True),
        ":",
        "-n",
        "1",
        str(program),
        str(SEED),
        "100",
    ]
    env = pretending("1+1", MILLRACE_NODES_WAIT=2)
    finished = process.run(words, hosts.environment(host, env), timeout=60)
    assert finished.returncode != 0
    assert "not all ranks of the job have come within 2 s" in finished.stderr
    assert "MILLRACE_NODES=never" in finished.stderr


def test_one_of_several_programs_is_no_proof():
    """Open MPI says that it has started two commands, so nobody waits for the one without Millrace."""
    program = build("openmpi4", "shared_collectives.c")
    host = hosts.get("openmpi4")
    words = [
        *hosts.command(host, 1, [program, SEED, 100], millrace=True),
        ":",
        "-n",
        "1",
        str(program),
        str(SEED),
        "100",
    ]
    env = pretending("1+1", MILLRACE_NODES="auto", MILLRACE_NODES_WAIT=5)
    finished = process.run(words, hosts.environment(host, env), timeout=60)
    assert (finished.returncode, finished.stdout) == (0, "done\n")


@pytest.mark.parametrize("host", ["openmpi4", "openmpi5"])
def test_open_mpi_says_that_all_are_ours(host):
    program = build(host, "exchanges.cpp", "-std=c++20")
    env = pretending("1+1", MILLRACE_NODES="auto")
    finished, _, found = of_nodes(host, 2, program, 8410, 200, env=env)
    assert finished.stdout == "done\n"
    for path in found:
        assert "nodes_allgather" in taken(path)


@pytest.mark.parametrize("host", ["openmpi4", "mpich4"])
def test_in_front_of_the_launcher(host):
    program = build(host, "exchanges.cpp", "-std=c++20")
    path = OUT / f"nodes-front-{host}.json"
    for old in OUT.glob(f"{path.stem}.*.json"):
        old.unlink()
    words = [str(hosts.MILLRACE), f"--report={path}", *hosts.command(host, 2, [program, 8410, 200])]
    env = pretending("1+1", MILLRACE_NODES="auto")
    finished = process.run(words, hosts.environment(host, env), timeout=120)
    assert (finished.returncode, finished.stdout) == (0, "done\n")
    found = sorted(OUT.glob(f"{path.stem}.*.json"))
    assert len(found) == 2
    for each in found:
        assert "nodes_allgather" in taken(each)


def test_other_settings_on_one_node_leave_all_to_the_host():
    program = build("openmpi4", "shared_collectives.c")
    host = hosts.get("openmpi4")
    first = hosts.command(host, 1, [program, SEED, 100], millrace=["--isa=scalar"])
    words = [*first, ":", "-n", "1", str(hosts.MILLRACE), str(program), str(SEED), "100"]
    finished = process.run(words, hosts.environment(host, pretending("1+1")), timeout=60)
    assert (finished.returncode, finished.stdout) == (0, "done\n")


@pytest.mark.parametrize("ranks, split, shared", [(2, "1+1", False), (4, "2+2", True), (4, "1+3", True)])
def test_nodes_that_share_processors_know_it(ranks, split, shared):
    """As containers of one machine may: each has as many ranks as processors, or fewer, and together they have more."""
    all_processors = os.sched_getaffinity(0)
    if len(all_processors) < 2:
        pytest.skip("one processor")
    os.sched_setaffinity(0, sorted(all_processors)[:2])
    try:
        program = build("openmpi4", "shared_collectives.c")
        finished = run("openmpi4", ranks, program, SEED, 50, env=pretending(split, MILLRACE_LOG="info"))
    finally:
        os.sched_setaffinity(0, all_processors)
    assert finished.stdout == "done\n"
    assert "the ranks of all nodes have met" in finished.stderr
    assert ("there are more of them than processors" in finished.stderr) == shared


def test_a_split_that_is_none_is_reported():
    program = build("openmpi4", "shared_collectives.c")
    finished = run("openmpi4", 2, program, SEED, 50, env=pretending("0+2"))
    assert finished.stdout == "done\n"
    assert "MILLRACE_NODE_SPLIT=0+2" in finished.stderr
