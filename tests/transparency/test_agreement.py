"""Ranks that end early, come late, fail calls, hide, or share names with others: as without Millrace, and no hang."""

import contextlib
import json
import os
import pathlib
import shutil
import subprocess
import tempfile
import time

import hosts
import pytest
from transparency import both, build, cases, lines, usable
from usable import NOBODY, why_no_mounts_of_its_own, why_no_other_user

pytestmark = pytest.mark.sampled_hosts

needs_root = pytest.mark.skipif(os.geteuid() != 0, reason="other users and namespaces need root")
WHY_NO_MOUNTS, WHY_NO_USER = why_no_mounts_of_its_own(), why_no_other_user()
needs_mounts = pytest.mark.skipif(WHY_NO_MOUNTS is not None, reason=str(WHY_NO_MOUNTS))
needs_other_user = pytest.mark.skipif(WHY_NO_USER is not None, reason=str(WHY_NO_USER))


def unshare(*arguments):
    return ["unshare", "--mount", *arguments, "sh", "-c"]


# ---- ranks that end early or come late ----


@cases(
    ("barrier", 0, 0, 60, "bcast", 4),
    ("barrier", 0, 0, 60, "mixed", 4),
    ("bcast", 1, 1500, 60, "bcast", 4),
    ("barrier", 0, 30, 60, "bcast", 3),
    ("bcast", 3, 300, 60, "bcast", 4),
    ("none", 1, 300, 60, "bcast", 4),
)
def test_some_ranks_end_early(host_name, case):
    host = usable(host_name)
    *arguments, ranks = case
    program = build(host, "early_end.c")
    for _ in range(2):
        both(host, ranks, program, *arguments, timeout=30)


@cases((1500, 40, 4), (300, 300, 3))
def test_a_rank_comes_late(host_name, case):
    host = usable(host_name)
    *arguments, ranks = case
    both(host, ranks, build(host, "late_rank.c"), *arguments, timeout=30)


# ---- calls that fail on one rank ----

WAYS, KINDS = ("count", "root", "op", "type", "empty"), ("allreduce", "bcast", "mixed")
FAILURES = [(how, kinds) for how in WAYS for kinds in KINDS]


@cases(*FAILURES)
def test_a_call_fails_on_one_rank(host_name, case):
    host = usable(host_name)
    how, kinds = case
    both(host, 3, build(host, "failed_call.c"), 12, how, kinds, timeout=60)


# In this order MPICH 5 and its ABI library meet bcasts, where a call more than the others made was not noticed.
@cases(
    ("count", "allreduce"), ("op", "mixed"), ("count", "mixed"), ("count", "bcast"), ("empty", "allreduce"),
    ("type", "bcast"),
)  # fmt: skip
def test_a_handler_hears_of_a_call_that_fails_on_one_rank(host_name, case):
    """MPICH 5 then returns success, as if nothing had failed."""
    host = usable(host_name)
    how, kinds = case
    both(host, 3, build(host, "failed_call.c"), 12, how, kinds, "handler", timeout=60)


@cases(("truncated", "allreduce"), ("truncated", "bcast"))
def test_a_message_is_too_long_on_one_rank(host_name, case):
    host = usable(host_name)
    how, kinds = case
    # With two ranks: among more, hosts do not tell those that the message should have come to through that rank.
    run = [build(host, "failed_call.c"), 12, how, kinds]
    if host_name != "intel":
        both(host, 2, *run, timeout=60)
        return
    # Intel MPI says nothing of it; in shared memory it is MPI_ERR_TRUNCATE there, too.
    alone = hosts.run(host, 2, run, timeout=60).check()
    ours = hosts.run(host, 2, run, millrace=True, env={"MILLRACE_COLLECTIVES": "always"}, timeout=60).check()
    assert "an error" not in alone.stdout
    assert "an error" in ours.stdout
    assert sorted(line.replace("an error", "no error") for line in lines(ours)) == lines(alone)


@pytest.mark.parametrize("program", ["left_by_jump.c", "frees_in_handler.c"])
@pytest.mark.parametrize("host_name", list(hosts.HOSTS))
def test_handlers_that_do_not_return_or_free(host_name, program):
    host = usable(host_name)
    both(host, 3, build(host, program), timeout=60)


# ---- ranks that others cannot see ----


# These hosts do not start, or do not end, in such processes themselves.
MPICH = ("mpich4", "mpich5", "abi")
NOT_WITH_HOST = {"first_thread": MPICH}
NOT_WHERE_PROC_HIDES = {"first_thread": MPICH, "before": MPICH, "after": MPICH}


def able(host_name, how, impossible):
    if host_name in impossible.get(how, ()):
        pytest.skip("the host alone does not work so")
    return usable(host_name)


@cases(("first_thread", -1), ("after", 1), ("first_thread", 1), ("before", -1), ("plain", -1), ("descriptors", 1))
def test_hidden_ranks(host_name, case):
    host = able(host_name, case[0], NOT_WITH_HOST)
    both(host, 3, build(host, "hidden.c", "-pthread"), *case, timeout=60)


@contextlib.contextmanager
def readable_copies(host, source, *flags):
    """A directory that any user may use, and the program in it: those who run as nobody cannot enter every home."""
    with tempfile.TemporaryDirectory() as directory:
        os.chmod(directory, 0o777)
        program = pathlib.Path(directory) / "program"
        shutil.copy(build(host, source, *flags), program)
        os.chmod(program, 0o755)
        yield pathlib.Path(directory), program


def as_nobody(line, hidepid):
    mount = "mount -t proc -o hidepid=2 proc /proc && " if hidepid else ""
    quoted = " ".join(f"'{word}'" for word in line)
    script = f"{mount}exec setpriv --reuid {NOBODY} --regid {NOBODY} --clear-groups {quoted}"
    return [*unshare("--propagation", "private"), script]


@needs_mounts
@needs_other_user
@cases(("first_thread", -1), ("plain", -1), ("before", -1), ("plain", 1), ("after", 1))
def test_hidden_ranks_where_proc_hides(host_name, case):
    host = able(host_name, case[0], NOT_WHERE_PROC_HIDES)
    with readable_copies(host, "hidden.c", "-pthread") as (directory, program):
        results = []
        for millrace in (False, True):
            line = hosts.command(host, 3, [program, *case], millrace=millrace)
            env = hosts.environment(host, {**host.run_environment, "HOME": directory, "TMPDIR": directory})
            results.append(hosts.process.run(as_nobody(line, True), env, 60, directory).check())
        assert lines(results[0]) == lines(results[1]), results[1].stdout + results[1].stderr


# ---- other jobs and other users ----


def start(line, env, directory=None):
    return subprocess.Popen(
        line, env=env, cwd=directory, stdout=subprocess.PIPE, stderr=subprocess.PIPE, stdin=subprocess.DEVNULL,
        text=True, start_new_session=True,
    )  # fmt: skip


def ends(children, seconds):
    """What each printed; None for one that did not end in time, which is then ended with all its ranks."""
    deadline = time.monotonic() + seconds
    texts = []
    for child in children:
        try:
            out, error = child.communicate(timeout=max(1, deadline - time.monotonic()))
            texts.append((child.returncode, out, error))
        except subprocess.TimeoutExpired:
            hosts.process._end(child)
            child.communicate()
            texts.append(None)
    return texts


def in_container(line, shared=False):
    """Own process numbers and the network of all, as in a container; own temporary files unless `shared`."""
    quoted = " ".join(f"'{word}'" for word in line)
    mounts = "" if shared else "mount -t tmpfs tmpfs /tmp && mount -t tmpfs tmpfs /dev/shm && "
    if mounts and hosts.ROOT.is_relative_to("/tmp"):  # a checkout there must stay in sight
        tree = f"'{hosts.ROOT}'"
        mounts = f"mount --bind {tree} /mnt && {mounts}mkdir -p {tree} && mount --bind /mnt {tree} && cd {tree} && "
    return ["unshare", "--mount", "--pid", "--fork", "--kill-child", "--mount-proc", "sh", "-c", f"{mounts}{quoted}"]


def check_all(lines_of_jobs, env):
    for text in ends([start(line, env) for line in lines_of_jobs], 40):
        assert text is not None, "no end"
        assert text[:2] == (0, "done\n"), text


def jobs(host, ranks_of_jobs, *before):
    """Jobs that overlap, with data of their own."""
    program = build(host, "steady.c")
    for number, ranks in enumerate(ranks_of_jobs):
        inner = [*before, program, 400 + 300 * number, 1000000 * (number + 1)]
        yield hosts.command(host, ranks, inner, millrace=True)


@needs_root
@needs_mounts
@cases((4, 4), (2, 4), (4, 3))
def test_two_jobs_in_containers(host_name, case):
    host = usable(host_name)
    # These two have no files that are named after process numbers: they work with /dev/shm in common.
    for shared in (False, True) if host_name in ("mpich4", "intel") else (False,):
        env = hosts.environment(host, host.run_environment)
        check_all([in_container(line, shared) for line in jobs(host, case)], env)


# MPICH 5 takes the variable for a word to itself.
OF_AN_OUTER_JOB = {"MPIR_CVAR_PMI_VERSION": "1"}


@pytest.mark.parametrize("ranks", [(4, 4), (2, 4), (4, 3)], ids=str)
@pytest.mark.parametrize("host_name", ["mpich4", "intel", pytest.param("mpich5", marks=pytest.mark.full)])
def test_two_jobs_with_an_inherited_name(host_name, ranks):
    """A job inside another job (a pilot's) has its variables: PMIX_NAMESPACE of the outer one, the same on all ranks.
    Open MPI's launcher gives each job its own."""
    host = usable(host_name)
    env = hosts.environment(host, {**host.run_environment, **OF_AN_OUTER_JOB})
    check_all(list(jobs(host, ranks, "env", "PMIX_NAMESPACE=pilot-1")), env)


SQUATTER = pathlib.Path(__file__).resolve().parent / "squatter.py"


@needs_root
@cases("directories", "full", "links", "names")
def test_another_user_takes_the_names_first(host_name, case):
    host = usable(host_name)
    program = build(host, "steady.c")
    name = f"squatted-{os.getpid()}"
    squat = ["/usr/bin/python3", "-c", SQUATTER.read_text(), case, name, str(os.geteuid())]  # who may not read it, too
    squatter = subprocess.Popen(
        ["setpriv", f"--reuid={NOBODY}", f"--regid={NOBODY}", "--clear-groups", *squat],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
    )  # fmt: skip
    try:
        assert squatter.stdout.readline() == "ready\n"
        inner = [program, 300, 1000]
        if host.variant != "openmpi":
            inner = ["env", f"PMIX_NAMESPACE={name}", *inner]
        env = hosts.environment(host, {**host.run_environment, **OF_AN_OUTER_JOB})
        finished = hosts.process.run(hosts.command(host, 4, inner, millrace=True), env, 30).check()
        assert finished.stdout == "done\n"
    finally:
        squatter.communicate("\n", timeout=10)


# ---- a report on some ranks only ----


@cases((0, 2), (1, 3))
def test_a_report_is_asked_for_on_one_rank(host_name, case):
    """As where a variable does not reach every node, or two programs of one job are started differently."""
    host = usable(host_name)
    who, ranks = case
    program = build(host, "steady.c")
    with tempfile.TemporaryDirectory() as directory:
        report = pathlib.Path(directory) / "report.json"
        condition = f'[ "${{OMPI_COMM_WORLD_RANK:-$PMI_RANK}}" = {who} ]'
        script = f'{condition} && export MILLRACE_REPORT={report}; exec "$0" 100 1'
        env = hosts.environment(host, host.run_environment)
        line = hosts.command(host, ranks, ["sh", "-c", script, program], millrace=[f"--mpi={host.variant}"])
        finished = hosts.process.run(line, env, 30).check()
        assert finished.stdout == "done\n"
        # What came is reported, with the number of ranks that it is from.
        assert json.loads(report.read_text())["schema"] == "millrace-report"


@cases(2)
def test_a_report_is_asked_for_in_one_program_of_two(host_name, case):
    host = usable(host_name)
    program = build(host, "steady.c")
    with tempfile.TemporaryDirectory() as directory:
        report = f"{directory}/report.json"
        first = hosts.command(host, 1, [program, 100, 1], millrace=[f"--report={report}"])
        others = [str(word) for word in ("-n", case, hosts.MILLRACE, program, 100, 1)]
        finished = hosts.process.run([*first, ":", *others], hosts.environment(host, host.run_environment), 30).check()
        assert finished.stdout == "done\n"


# ---- memory ----


def held_mib(finished):
    return next(float(line.split()[1]) for line in finished.stderr.splitlines() if line.startswith("MiB: "))


# Of a communicator of four ranks, if all of its pages were there.
WHOLE_MIB = 4.2


@cases((60, 12, "small", 1 / 20), (60, 12, "large", 1 / 2))
def test_duplicates_hold_what_they_use(host_name, case):
    """Pages come when they are touched: measured are those that are there, each counted once."""
    host = usable(host_name)
    *arguments, share = case
    program = build(host, "many_duplicates.c")
    sides = [hosts.run(host, 4, [program, *arguments], millrace=ours, timeout=60).check() for ours in (False, True)]
    assert lines(sides[0]) == lines(sides[1])
    assert held_mib(sides[1]) - held_mib(sides[0]) < share * WHOLE_MIB * arguments[0]


@contextlib.contextmanager
def control_group(limit_mib):
    """A directory whose cgroup.procs takes processes that may hold so much together; skips where none can be made."""
    own = [line.split(":", 2) for line in pathlib.Path("/proc/self/cgroup").read_text().splitlines()]
    places = [(pathlib.Path("/sys/fs/cgroup/memory" + path), "memory.limit_in_bytes") for _, names, path in own
              if "memory" in names.split(",")]  # fmt: skip
    places += [(pathlib.Path("/sys/fs/cgroup" + path), "memory.max") for _, names, path in own if not names]
    for parent, limit in places:
        group = parent / f"millrace-test-{os.getpid()}"
        try:
            group.mkdir()
        except OSError:
            continue
        try:
            (group / limit).write_text(str(limit_mib << 20))
        except OSError:
            group.rmdir()
            continue
        try:
            yield group / "cgroup.procs"
        finally:
            for _ in range(100):
                with contextlib.suppress(OSError):
                    group.rmdir()
                    break
                time.sleep(0.1)
        return
    pytest.skip("no control group with a limit on memory can be made here")


@needs_root
@cases((90, 12, 300))
def test_duplicates_where_memory_is_limited(host_name, case):
    host = usable(host_name)
    count, calls, limit_mib = case
    program = build(host, "many_duplicates.c")
    with control_group(limit_mib) as members:
        for millrace in (False, True):
            line = hosts.command(host, 4, [program, count, calls], millrace=millrace)
            script = ["sh", "-c", f'echo $$ >{members} && exec "$@"', "sh", *line]
            env = hosts.environment(host, host.run_environment)
            finished = hosts.process.run(script, env, 60).check()
            assert finished.stdout == "done\n"
