"""Requests that complete where Millrace might not see it: programs print the same alone and with Millrace."""

import json
import pathlib
import uuid

import hosts
import pytest
from usable import usable

SOURCES = pathlib.Path(__file__).resolve().parent / "programs"
OUT = hosts.BUILD / "tests" / "transparency"
ALWAYS = {"MILLRACE_LAYOUTS": "always"}


def build(host, source, *flags, name=None):
    out = OUT / host.name / (name or pathlib.Path(source).stem)
    return hosts.compile(host, SOURCES / source, out, flags=flags)


def both_ways(host, ranks, program, *arguments, env=None):
    """What it prints, which must be the same alone and with Millrace, and the report."""
    alone = hosts.run(host, ranks, [program, *arguments], env=env, timeout=60).check()
    path = OUT / f"report-{uuid.uuid4().hex}.json"
    try:
        env = {"MILLRACE_REPORT": path, **ALWAYS, **(env or {})}
        ours = hosts.run(host, ranks, [program, *arguments], millrace=True, env=env, timeout=60).check()
        # Ranks print at once.
        assert sorted(ours.stdout.splitlines()) == sorted(alone.stdout.splitlines()), ours
        return ours.stdout, {entry["name"]: entry for entry in json.loads(path.read_text())["calls"]}
    finally:
        path.unlink(missing_ok=True)


@pytest.mark.parametrize("name", list(hosts.HOSTS))
def test_in_a_delete_callback_at_the_end(name):
    host = usable(name)
    text, calls = both_ways(host, 2, build(host, "finalize_callback.c"))
    assert text.count(": 0 wrong") == 16
    for call in ("MPI_Irecv", "MPI_Recv_init", "MPI_Iallgather"):
        assert calls[call]["taken"] > 0
