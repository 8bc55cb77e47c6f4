"""Collectives through shared memory: right on every host, and taken only where all ranks have agreed."""

import json
import os

import hosts
import process
import pytest
from shim_programs import build, call, report, run

pytestmark = pytest.mark.sampled_hosts

COLLECTIVES = ["MPI_Barrier", "MPI_Bcast", "MPI_Reduce", "MPI_Allreduce"]
SEED = 20211
# Intel MPI 2021.18 alone: on five ranks and more bcasts in shared memory bring wrong bytes once communicators were made
# and freed, and after some thousands of communicators an assertion fails (ch4_shm_coll.c).
ENV = {"intel": {"I_MPI_COLL_INTRANODE": "pt2pt"}}


def calls_for(host, ranks):
    """MPICH by itself needs tens of milliseconds a call when ranks outnumber cores, and the first calls are its own."""
    return 120 if host in ("mpich4", "mpich5", "abi") and ranks > 2 else 400


@pytest.mark.parametrize("ranks", [2, 3, 4])
@pytest.mark.parametrize("host", list(hosts.HOSTS))
def test_random_calls(host, ranks):
    program = build(host, "shared_collectives.c")
    finished, result = report(host, ranks, program, SEED + ranks, calls_for(host, ranks), "ours")
    assert finished.stdout == "done\n"
    for name in COLLECTIVES:
        assert call(result, name)["taken"] > 0, name


@pytest.mark.full
@pytest.mark.parametrize("ranks", [1, 2, 3, 4, 5, 6, 7, 8, 9, 16])
@pytest.mark.parametrize("host", list(hosts.HOSTS))
def test_many_random_calls(host, ranks):
    """On the communicator that is left to the host, too."""
    calls = {"openmpi4": 3000, "intel": 3000, "openmpi5": 1000}.get(host, 200)
    finished = run(
        host, ranks, build(host, "shared_collectives.c"), ranks, calls, "ours", env=ENV.get(host), timeout=900
    )
    assert finished.check().stdout == "done\n"


def test_the_host_alone_passes_the_same_test():
    program = build("openmpi4", "shared_collectives.c")
    assert run("openmpi4", 3, program, SEED, 100, millrace=False).check().stdout == "done\n"


def test_never():
    program = build("openmpi4", "shared_collectives.c")
    _, result = report("openmpi4", 2, program, SEED, 100, env={"MILLRACE_COLLECTIVES": "never"})
    assert all(call(result, name)["taken"] == 0 for name in ["MPI_Barrier", "MPI_Bcast"])


def test_one_disabled():
    program = build("openmpi4", "shared_collectives.c")
    _, result = report("openmpi4", 2, program, SEED, 200, env={"MILLRACE_DISABLE": "Bcast"})
    bcast = call(result, "MPI_Bcast")
    assert bcast["taken"] == 0
    assert bcast["forwarded_why"] == {"disabled": bcast["calls"]}
    assert call(result, "MPI_Barrier")["taken"] > 0


# How a rank learns its number from each launcher.
RANK = {"openmpi4": "OMPI_COMM_WORLD_RANK", "openmpi5": "OMPI_COMM_WORLD_RANK"}


def mixed(host, ranks, first, rest):
    """Rank 0 is started with the words `first`, the others with `rest`."""
    return mixed_words(host, ranks, first, rest, [build(host, "shared_collectives.c"), SEED, 60])


def mixed_words(host, ranks, first, rest, words):
    script = f'if [ "${RANK.get(host, "PMI_RANK")}" = 0 ]; then exec {first} "$@"; else exec {rest} "$@"; fi'
    return hosts.run(host, ranks, ["sh", "-c", script, "sh", *words], timeout=120)


@pytest.mark.parametrize("host", list(hosts.HOSTS))
def test_ranks_without_millrace(host):
    """Nobody waits for a rank that cannot answer."""
    assert mixed(host, 3, "env", hosts.MILLRACE).check().stdout == "done\n"


def test_ranks_with_other_settings():
    finished = mixed("openmpi4", 3, f"env MILLRACE_DISABLE=Bcast {hosts.MILLRACE}", hosts.MILLRACE)
    assert finished.check().stdout == "done\n"


def test_ranks_behind_scripts():
    """A shell between the launcher and each rank hides who started it, not which job it belongs to."""
    for host in ("openmpi4", "mpich4"):
        program = build(host, "shared_collectives.c")
        path = hosts.BUILD / "tests" / "shim" / f"behind-{host}.json"
        script = f'{hosts.MILLRACE} "$@"; exit $?'
        environment = {"MILLRACE_REPORT": path}
        hosts.run(host, 2, ["sh", "-c", script, "sh", program, SEED, 100], env=environment, timeout=120).check()
        result = json.loads(path.read_text())
        path.unlink()
        assert call(result, "MPI_Barrier")["taken"] > 0, host


@pytest.mark.parametrize("ranks", [2, 3])
@pytest.mark.parametrize("host", list(hosts.HOSTS))
def test_waiting_drives_the_host(host, ranks):
    """A large send before a collective reaches a rank that receives before its own; a put under a passive lock too."""
    finished, result = report(host, ranks, build(host, "progress.c"), timeout=60)
    assert [line.split()[0] for line in finished.stdout.splitlines()] == ["message"] * 4 + ["put"] * 4
    assert all(call(result, name)["taken"] > 0 for name in COLLECTIVES)


KINDS = ["barrier", "bcast", "reduce", "allreduce", "gather", "scatter"]
SAMPLE = [
    ("openmpi4", "barrier"),
    ("mpich5", "bcast"),
    ("intel", "reduce"),
    ("mpich4", "allreduce"),
    ("intel", "gather"),
    ("openmpi5", "scatter"),
]
EVERY = [(host, kind) for host in hosts.HOSTS for kind in KINDS]


@pytest.mark.parametrize("host, kind", SAMPLE + [pytest.param(*pair, marks=pytest.mark.full) for pair in EVERY])
def test_a_rank_dies(host, kind):
    """The others hear of it through the error handler of the communicator. The launcher sees a shell that lives on."""
    program = build(host, "peer_dies.c")
    shell = ["sh", "-c", '"$@"; sleep 3', "sh", hosts.MILLRACE, program, kind]
    finished = hosts.run(host, 3, shell, timeout=60)
    said = sorted(line for line in finished.stdout.splitlines() if line.startswith("rank"))
    assert said == [f"rank {rank}: an error after less than 2.5 s" for rank in (0, 1)], finished.stderr
    assert "another rank of the communicator has died" in finished.stderr


@pytest.mark.parametrize("host", list(hosts.HOSTS))
def test_a_root_that_fails(host):
    """Its error is its own, as with the host: nothing is broken, and its next call is the one the others are in."""
    for millrace in (False, True):
        finished = run(host, 3, build(host, "root_fails.c"), millrace=millrace, timeout=60).check()
        lines = sorted(finished.stdout.splitlines())
        assert lines == [f"rank {rank}: {int(rank == 1)} errors, data right" for rank in range(3)]


def test_memory_that_the_system_refuses():
    """Without memfd it is a file in /dev/shm; without room there, the host."""
    for host, names in ("openmpi4", ["memfd", "cma"]), ("mpich5", ["memfd"]):  # MPICH itself fails without CMA
        program = build(host, "shared_collectives.c")
        forbid = build(host, "forbid.c")
        path = hosts.BUILD / "tests" / "shim" / f"forbidden-{host}.json"
        words = [forbid, *names, "--", hosts.MILLRACE, program, SEED, 200]
        hosts.run(host, 3, words, env={"MILLRACE_REPORT": path}, timeout=120).check()
        result = json.loads(path.read_text())
        path.unlink()
        assert call(result, "MPI_Barrier")["taken"] > 0, host


def in_small_shared_memory(host, words, **options):
    """Runs words on 3 ranks where /dev/shm holds 1 MB; the mount is seen by this run only."""
    line = hosts.command(host, 3, words)
    script = 'mount -t tmpfs -o size=1m none /dev/shm && exec "$@"'
    extra = {**hosts.get(host).run_environment, **options.pop("env", {})}
    command = ["unshare", "--mount", "--propagation", "private", "sh", "-c", script, "sh", *line]
    return process.run(command, hosts.environment(host, extra), 120)


@pytest.mark.skipif(os.geteuid() != 0, reason="mounting a small /dev/shm takes root")
@pytest.mark.parametrize("host", ["openmpi4", "mpich5", "intel"])
def test_a_small_shared_memory(host):
    program = build(host, "shared_collectives.c")
    forbid = build(host, "forbid.c")
    arguments = [program, SEED, 100]
    plain = in_small_shared_memory(host, arguments)
    if plain.returncode != 0:
        pytest.skip(f"{host} by itself fails with a /dev/shm of 1 MB: {plain.stderr[-200:]}")
    path = hosts.BUILD / "tests" / "shim" / f"small-{host}.json"
    for words, taken in ([hosts.MILLRACE], True), ([forbid, "memfd", "--", hosts.MILLRACE], False):
        finished = in_small_shared_memory(host, [*words, *arguments], env={"MILLRACE_REPORT": path})
        assert finished.check().stdout == "done\n"
        barrier = call(json.loads(path.read_text()), "MPI_Barrier")
        path.unlink()
        assert (barrier["taken"] > 0) == taken
        if not taken:
            assert barrier["forwarded_why"]["no_shared_memory"] > 0


@pytest.mark.parametrize("host", ["openmpi4", "mpich4", "intel"])
def test_many_communicators(host):
    program = build(host, "many_communicators.c")
    finished = run(host, 2, program, 200, 100).check()
    assert finished.stdout.endswith("0 wrong\n")


@pytest.mark.parametrize("host", ["openmpi5", "mpich5"])
def test_communicators_that_are_agreed_on_leave_nothing(host):
    """UCX once kept 148 bytes each time that their memory was given back: 590 KiB for 4000 more of them."""
    grown_kib = []
    for communicators in 1000, 5000:
        program = build(host, "many_communicators.c")
        finished = run(host, 2, program, communicators, 0, env={"MILLRACE_COLLECTIVES": "always"}).check()
        assert finished.stdout.endswith("0 wrong\n")
        grown_kib.append(int(finished.stdout.split(" us, ")[1].split()[0]))
    assert grown_kib[1] - grown_kib[0] < 250, grown_kib


@pytest.mark.parametrize("host", ["openmpi4", "mpich4"])
def test_communicators_that_live_short_are_left_to_the_host(host):
    """Ranks learn that it does not pay to agree on them."""
    _, result = report(host, 2, build(host, "many_communicators.c"), 200, 100)
    reduced = call(result, "MPI_Allreduce")
    assert 0 < reduced["taken"] < reduced["calls"] / 100


@pytest.mark.full
@pytest.mark.parametrize("host", list(hosts.HOSTS))
def test_ten_thousand_communicators(host):
    """Nothing leaks: after 10 000 of them the memory of a rank has grown by less than a KiB for each."""
    program, env = build(host, "many_communicators.c"), ENV.get(host)
    plain = run(host, 2, program, 10000, 2000, millrace=False, env=env, timeout=900).check()
    finished = run(host, 2, program, 10000, 2000, env=env, timeout=900).check()
    assert finished.stdout.endswith("0 wrong\n")
    grown = [int(side.stdout.split(" us, ")[1].split()[0]) for side in (finished, plain)]
    assert grown[0] < grown[1] + 2000, (finished.stdout, plain.stdout)


@pytest.mark.parametrize(
    "settings",
    [
        {"MILLRACE_WAIT": "spin"},
        {"MILLRACE_WAIT": "yield"},
        {"MILLRACE_WAIT": "sleep"},
        {"MILLRACE_ORDER": "rank", "MILLRACE_TREE": "flat"},
        {"MILLRACE_ALGORITHM": "allreduce=slices,reduce=chunks"},
        {"MILLRACE_ALGORITHM": "reduce=slices,barrier=tree,bcast=tree", "MILLRACE_TREE": "kary:2"},
    ],
    ids=lambda settings: "-".join(settings.values()),
)
def test_forced(settings):
    """Every way of waiting and every algorithm gives the left fold in rank order."""
    program = build("openmpi4", "shared_collectives.c")
    env = {"MILLRACE_COLLECTIVES": "always", **settings}
    finished, _ = report("openmpi4", 3, program, SEED, 300, "always", env=env)
    assert finished.stdout == "done\n"


def test_a_wrong_tree_is_reported():
    finished = run("openmpi4", 2, build("openmpi4", "shared_collectives.c"), SEED, 20, env={"MILLRACE_TREE": "oak"})
    assert "MILLRACE_TREE=oak is not a tree" in finished.check().stderr


def never_synchronising(host, ranks, *words, **options):
    finished, result = report(host, ranks, build(host, "never_synchronises.c"), *words, **options)
    assert finished.stdout == "done\n"
    return result


@pytest.mark.parametrize("host", list(hosts.HOSTS))
def test_calls_that_never_synchronise(host):
    """Ranks learn of each other without a barrier: on MPI_COMM_WORLD, and on a grid of all its ranks."""
    result = never_synchronising(host, 3, "bcast", 600)
    assert call(result, "MPI_Bcast")["taken"] > 0
    if host != "mpich4":  # crashes in MPI_Neighbor_alltoallw by itself
        result = never_synchronising(host, 2, "neighbors", 600)
        assert call(result, "MPI_Neighbor_alltoallw")["taken"] > 0


def test_a_rank_that_comes_late():
    for host in ("openmpi5", "mpich5"):
        never_synchronising(host, 3, "bcast", 600, 300)
        never_synchronising(host, 3, "neighbors", 600, 300)


def test_a_rank_whose_threads_may_call():
    """One rank alone has MPI_THREAD_MULTIPLE. Calls on one communicator are in order all the same, and are counted."""
    result = never_synchronising("openmpi4", 2, "threads", 100)
    assert call(result, "MPI_Bcast")["taken"] > 0


@pytest.mark.parametrize("what", ["bcast", "neighbors"])
@pytest.mark.parametrize("host", ["openmpi4", "openmpi5", "mpich5", "intel"])
def test_a_rank_without_millrace_is_never_waited_for(host, what):
    words = [build(host, "never_synchronises.c"), what, 600]
    assert mixed_words(host, 3, "env", hosts.MILLRACE, words).check().stdout == "done\n"
