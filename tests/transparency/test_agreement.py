"""Ranks that end early, come late, fail calls, hide, or share names with others: as without Millrace, and no hang."""

import contextlib
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import time

import hosts
import pytest
from transparency import OUT, SOURCES, both, build, cases, lines, usable

NOBODY = 65534
needs_root = pytest.mark.skipif(os.geteuid() != 0, reason="other users and namespaces need root")


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

FAILURES = [(how, kinds) for how in ("count", "root", "op", "type", "empty") for kinds in ("allreduce", "mixed")]


@cases(*FAILURES)
def test_a_call_fails_on_one_rank(host_name, case):
    host = usable(host_name)
    how, kinds = case
    both(host, 3, build(host, "failed_call.c"), 12, how, kinds, timeout=60)


@cases(("truncated", "allreduce"), ("truncated", "bcast"))
def test_a_message_is_too_long_on_one_rank(host_name, case):
    host = usable(host_name)
    how, kinds = case
    both(host, 3, build(host, "failed_call.c"), 12, how, kinds, timeout=60)


@cases("left_by_jump.c", "frees_in_handler.c")
def test_handlers_that_do_not_return_or_free(host_name, case):
    host = usable(host_name)
    both(host, 3, build(host, case), timeout=60)


# ---- ranks that others cannot see ----


@cases(("plain", -1), ("before", -1), ("after", 1), ("first_thread", -1), ("first_thread", 1), ("descriptors", 1))
def test_hidden_ranks(host_name, case):
    host = usable(host_name)
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


@needs_root
@cases(("plain", -1), ("before", -1), ("after", 1), ("first_thread", -1))
def test_hidden_ranks_where_proc_hides(host_name, case):
    host = usable(host_name)
    with readable_copies(host, "hidden.c", "-pthread") as (directory, program):
        results = []
        for millrace in (False, True):
            line = hosts.command(host, 3, [program, *case], millrace=millrace)
            env = hosts.environment(host, {**host.run_environment, "HOME": directory, "TMPDIR": directory})
            results.append(hosts.process.run(as_nobody(line, True), env, 60, directory).check())
        assert lines(results[0]) == lines(results[1])


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


def in_container(line):
    """Own process numbers, as in a container; the same network and /dev/shm as everybody."""
    quoted = " ".join(f"'{word}'" for word in line)
    return ["unshare", "--pid", "--fork", "--kill-child", "--mount-proc", "sh", "-c", f"{quoted}; exit $?"]


@needs_root
@cases((4, 4), (2, 4), (4, 3))
def test_two_jobs_in_containers(host_name, case):
    host = usable(host_name)
    program = build(host, "steady.c")
    env = hosts.environment(host, host.run_environment)
    # Several at once and one after the other: process numbers and names repeat.
    for _ in range(2):
        children = []
        for number, ranks in enumerate(case):
            line = hosts.command(host, ranks, [program, 400 + 300 * number, 1000000 * (number + 1)], millrace=True)
            children.append(start(in_container(line), env))
        for text in ends(children, 40):
            assert text is not None, "no end"
            assert text[:2] == (0, "done\n"), text


@cases((4, 4), (2, 4), (4, 3))
def test_two_jobs_with_an_inherited_name(host_name, case):
    """A job inside another job (a pilot's) has its variables: PMIX_NAMESPACE of the outer one, on all ranks alike."""
    host = usable(host_name)
    program = build(host, "steady.c")
    env = hosts.environment(host, host.run_environment)
    for _ in range(2):
        children = []
        for number, ranks in enumerate(case):
            inner = ["env", "PMIX_NAMESPACE=pilot-1", program, 400 + 300 * number, 1000000 * (number + 1)]
            # Open MPI's ranks need their own name to start with; the others never look at it.
            if host.variant == "openmpi":
                inner = inner[2:]
            children.append(start(hosts.command(host, ranks, inner, millrace=True), env))
        for text in ends(children, 40):
            assert text is not None, "no end"
            assert text[:2] == (0, "done\n"), text


SQUATTER = pathlib.Path(__file__).resolve().parent / "squatter.py"


@needs_root
@cases("names", "directories", "links")
def test_another_user_takes_the_names_first(host_name, case):
    host = usable(host_name)
    program = build(host, "steady.c")
    name = f"squatted-{os.getpid()}"
    squat = [sys.executable, str(SQUATTER), case, name, str(os.geteuid())]
    squatter = subprocess.Popen(
        ["setpriv", f"--reuid={NOBODY}", f"--regid={NOBODY}", "--clear-groups", "/usr/bin/python3", *squat[1:]],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
    )  # fmt: skip
    try:
        assert squatter.stdout.readline() == "ready\n"
        inner = [program, 300, 1000]
        if host.variant != "openmpi":
            inner = ["env", f"PMIX_NAMESPACE={name}", *inner]
        env = hosts.environment(host, host.run_environment)
        finished = hosts.process.run(hosts.command(host, 4, inner, millrace=True), env, 30).check()
        assert finished.stdout == "done\n"
    finally:
        squatter.communicate("\n", timeout=10)
