"""Programs with seeds that nobody has chosen, beside a process that keeps a core busy; and whether that can fail.

MILLRACE_TEST_SEED is the master seed (drawn, and printed), MILLRACE_TEST_SECONDS how long it goes on with --full, on
all hosts together (600). build/tests/shim/random_seeds-HOST.txt has a line for each run.
"""

import collections
import os
import pathlib
import random
import subprocess
import sys
import time

import hosts
import pytest
import random_seeds
from random_seeds import Load, busy, go_on, judge, make, runs
from seeded_programs import PROGRAMS, Asked, Program
from shim_programs import OUT

SECONDS = float(os.environ.get("MILLRACE_TEST_SECONDS", 600)) / len(hosts.HOSTS)
MASTER = int(os.environ.get("MILLRACE_TEST_SEED", 0)) or random.SystemRandom().randrange(1, 10**6)
# Quick ones, one a host.
SAMPLE = [
    ("shared_stress", "openmpi4", 31), ("nodes_measured_calls", "openmpi5", 2), ("background_cases", "mpich4", 7),
    ("background", "mpich5", 12), ("measured_calls", "intel", 5), ("shared_collectives", "abi", 3),
]  # fmt: skip


def say(host, verdicts, capsys):
    kinds = collections.Counter(verdict.outcome.kind for verdict in verdicts if verdict.is_failure)
    own = [verdict for verdict in verdicts if verdict.is_hosts_own]
    failed = ", ".join(f"{count} {kind}" for kind, count in kinds.items()) or "none wrong"
    with capsys.disabled():
        print(f"\n{host}: MILLRACE_TEST_SEED={MASTER}, {len(verdicts)} runs, {failed}, {len(own)} the host's own")
        for verdict in own:
            alone = f"{verdict.alone[-1].kind} by the host alone" if verdict.alone else "as is known of the host"
            print(f"  {verdict.run.program} {host} {verdict.run.seed}: {verdict.outcome.kind}, {alone}")


@pytest.mark.full
@pytest.mark.timeout(SECONDS + 1800)
def test_random_seeds(host, launcher, capsys):
    OUT.mkdir(parents=True, exist_ok=True)
    verdicts = go_on(MASTER, host.name, SECONDS, OUT / f"random_seeds-{host.name}.txt")
    say(host.name, verdicts, capsys)
    if failed := [str(verdict) for verdict in verdicts if verdict.is_failure]:
        pytest.fail("\n\n".join([f"MILLRACE_TEST_SEED={MASTER}", *failed]), pytrace=False)


@pytest.mark.parametrize("program, host, seed", SAMPLE)
def test_a_sample(program, host, seed, launcher):
    verdict = judge(make(program, host, seed))
    if verdict.is_failure:
        pytest.fail(str(verdict), pytrace=False)


# A program of our own: what it does with Millrace, and what without.
# They stay a bit: of programs that are over at once, MPICH 4.0's mpiexec itself dies now and then (SIGPIPE, 6 of 2500).
PROGRAM = """sleep 0.05; case "$LD_PRELOAD" in *libmillrace*) does=$1 ;; *) does=$2 ;; esac
[ "${OMPI_COMM_WORLD_RANK:-$PMI_RANK}" = 0 ] || exit 0
eval "$does"
"""
RIGHT = "echo done"
WRONG = "echo rank 0: Bcast of 7 ints is wrong; echo 1 wrong; exit 1"
OTHER = WRONG.replace("Bcast", "Scan")
BOTH = f"echo rank 0: Scan of 7 ints is wrong; {WRONG}"
ABORTS = "echo rank 0: Scan of 7 ints is wrong; exit 1"
KNOWN = "echo rank 0: Allgather on world is wrong; echo 1 wrong; exit 1"
CRASHES = "kill -SEGV $$"
HANGS = "exec sleep 600"
LEAVES = "setsid sleep 600 >&- 2>&- & echo done"


def made_up(with_millrace, alone, host="mpich4"):
    words = ["sh", "-c", PROGRAM, "sh", with_millrace, alone]
    asked = Asked(2, words, words, {"MILLRACE_WAIT": "yield"}, hosts_own="Allgather on ")
    programs = {"made_up": Program(lambda draw, host, seed: asked)}
    return make("made_up", host, 5, programs)


@pytest.mark.parametrize(
    "with_millrace, alone, kind, failure",
    [
        (RIGHT, WRONG, "right", False),
        (WRONG, RIGHT, "wrong", True),
        (WRONG, WRONG, "wrong", False),
        (WRONG, OTHER, "wrong", True),
        (WRONG, BOTH, "wrong", False),
        (BOTH, WRONG, "wrong", True),
        (WRONG, CRASHES, "wrong", False),
        (WRONG, ABORTS, "wrong", False),
        (KNOWN, RIGHT, "wrong", False),
        (f"echo rank 1: Allgather on ring is wrong; {WRONG}", RIGHT, "wrong", True),
        (CRASHES, RIGHT, "crashed", True),
        (CRASHES, CRASHES, "crashed", False),
        (CRASHES, WRONG, "crashed", True),
        (HANGS, RIGHT, "hung", True),
        (HANGS, HANGS, "hung", False),
        ("echo nothing", RIGHT, "crashed", True),
    ],
)
def test_whose_failure_it_is(launcher, with_millrace, alone, kind, failure):
    limit_s = 1 if alone == HANGS else 3 if with_millrace == HANGS else 60
    verdict = judge(made_up(with_millrace, alone), limit_s)
    assert (verdict.outcome.kind, verdict.is_failure) == (kind, failure), str(verdict)
    assert verdict.is_hosts_own == (kind != "right" and not failure)
    assert with_millrace == RIGHT or "random_seeds.py made_up mpich4 5\n" in str(verdict)
    # How the host alone has ended is told where that is why it is not a failure, or would be.
    assert ("the host alone: crashed after" in str(verdict)) == (with_millrace != RIGHT and alone == CRASHES)


def processes():
    """Of programs of our own that have been made up."""
    found = [path for path in pathlib.Path("/proc").glob("[0-9]*/cmdline")]
    return [path for path in found if random_seeds._read(path) == b"sleep\x00600\x00"]


@pytest.mark.parametrize(
    "host, does, kind, limit_s",
    [("openmpi4", HANGS, "hung", 3), ("openmpi4", LEAVES, "left", 60), ("mpich4", LEAVES, "hung", 3)],
)
def test_no_rank_is_left_over(launcher, host, does, kind, limit_s):
    """Open MPI's launcher does not wait for what has left its session, Hydra does."""
    verdict = judge(made_up(does, RIGHT, host), limit_s)
    assert (verdict.outcome.kind, verdict.is_failure) == (kind, True)
    assert processes() == []
    assert kind == "hung" or "sleep" in verdict.outcome.detail


def test_one_seed_of_many_fails(launcher, tmp_path):
    """And the one word that says which brings it back."""

    def ask(draw, host, seed):
        return made_up(WRONG if seed % 4 == 1 else RIGHT, RIGHT).asked

    programs, log = {"made_up": Program(ask)}, tmp_path / "log.txt"
    verdicts = go_on(3, "mpich4", 1.5, log, programs)
    failed = {verdict.run.seed for verdict in verdicts if verdict.is_failure}
    assert failed == {verdict.run.seed for verdict in verdicts if verdict.run.seed % 4 == 1}
    assert 0 < len(failed) < len(verdicts)
    assert judge(make("made_up", "mpich4", failed.pop(), programs)).is_failure
    lines = log.read_text().splitlines()
    assert lines[0] == "MILLRACE_TEST_SEED=3"
    assert sum(line.startswith(("right, ", "wrong, ")) for line in lines) == len(verdicts)


def first(master, host, count):
    found = runs(master, host, {name: Program(lambda *_: None, each.hosts) for name, each in PROGRAMS.items()})
    return [(run.program, run.seed, run.load) for run, _ in zip(found, range(count), strict=False)]


def test_the_master_seed_decides():
    for host in hosts.HOSTS:
        programs = [name for name, program in PROGRAMS.items() if host in program.hosts]
        assert first(1, host, 60) == first(1, host, 60) != first(2, host, 60)
        assert sorted(name for name, _, _ in first(1, host, len(programs))) == sorted(programs)
        assert len({load for _, _, load in first(1, host, 60)}) == 6
    assert [seed for _, seed, _ in first(1, "abi", 9)] != [seed for _, seed, _ in first(1, "intel", 9)]


def test_all_that_may_be_asked_occurs(monkeypatch):
    """Of programs, ranks and settings; and what is asked follows from the seed."""
    monkeypatch.setattr(hosts, "compile", lambda host, source, out, **_: out)
    seen = collections.defaultdict(set)
    for host in hosts.HOSTS:
        for run, _ in zip(runs(1, host), range(1000), strict=False):
            assert (again := make(run.program, host, run.seed)).asked.words == run.asked.words
            assert again.asked.settings == run.asked.settings and again.asked.ranks == run.asked.ranks
            seen["ranks"].add(run.asked.ranks)
            for name, value in run.asked.settings.items():
                seen[name].add(value)
            if run.program.endswith("matrix"):
                settings = run.asked.settings
                assert settings["MILLRACE_PMPI"] == "alike"
                assert settings.get("MILLRACE_COLLECTIVES") == "always" or (
                    run.asked.ranks > 2 and settings["MILLRACE_ORDER"] == "rank"
                ), "its order is not promised, or its gaps are not"
    assert seen["ranks"] == {2, 3, 4, 5}
    assert seen["MILLRACE_WAIT"] == {"yield", "sleep", "spin"}
    assert seen["MILLRACE_COLLECTIVES"] == {"always", "auto", "never"}
    assert len(seen["MILLRACE_NODE_SPLIT"]) == 9


def is_there(number):
    return pathlib.Path(f"/proc/{number}").exists()


def test_the_busy_process_ends():
    with pytest.raises(KeyError), busy(Load(1, 5)) as child:
        time.sleep(0.2)
        assert child.poll() is None
        assert len(os.sched_getaffinity(child.pid)) == 1
        raise KeyError
    assert not is_there(child.pid)


def test_the_busy_process_ends_where_its_parent_is_killed():
    lines = [
        "import os, signal, sys", f"sys.path.insert(0, {str(pathlib.Path(__file__).parent)!r})",
        "from random_seeds import Load, busy", "with busy(Load()) as child:",
        "    print(child.pid, flush=True)", "    os.kill(os.getpid(), signal.SIGKILL)",
    ]  # fmt: skip
    said = subprocess.run([sys.executable, "-c", "\n".join(lines)], stdout=subprocess.PIPE, text=True, check=False)
    deadline = time.monotonic() + 20
    while is_there(said.stdout.strip()) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert not is_there(said.stdout.strip())
