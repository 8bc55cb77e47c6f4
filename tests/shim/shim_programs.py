"""Builds the programs of this directory once per host and runs them with and without Millrace."""

import json
import pathlib
import uuid

import hosts
import pytest

SOURCES = pathlib.Path(__file__).resolve().parent / "programs"
OUT = hosts.BUILD / "tests" / "shim"


def build(host, source, *flags, name=None):
    out = OUT / host / (name or pathlib.Path(source).stem)
    return hosts.compile(host, SOURCES / source, out, flags=flags)


def run(host, ranks, program, *arguments, millrace=True, env=None, timeout=120):
    return hosts.run(host, ranks, [program, *arguments], millrace=millrace, env=env, timeout=timeout)


def check_done(host, ranks, program, *arguments, **options):
    """Runs a program that says "done". Skipped where Intel MPI or MPICH 4 alone fails with the same arguments."""
    finished = run(host, ranks, program, *arguments, **options)
    right = finished.returncode == 0 and finished.stdout == "done\n"
    for _ in range(3 if host in ("intel", "mpich4") and not right else 0):
        alone = run(host, ranks, program, *arguments, millrace=False, **options)
        if alone.returncode != 0:
            pytest.skip(f"{host} alone: {(alone.stdout + alone.stderr).strip().splitlines()[0]}")
    assert finished.check().stdout == "done\n"


def report(host, ranks, program, *arguments, env=None, timeout=120):
    """Runs with a report and returns (what finished, the report as JSON)."""
    path = OUT / f"report-{uuid.uuid4().hex}.json"
    path.parent.mkdir(parents=True, exist_ok=True)
    try:
        finished = run(host, ranks, program, *arguments, env={"MILLRACE_REPORT": path, **(env or {})}, timeout=timeout)
        finished.check()
        return finished, json.loads(path.read_text())
    finally:
        path.unlink(missing_ok=True)


def call(report_, name):
    """The report's entry of one MPI call, or None."""
    return next((entry for entry in report_["calls"] if entry["name"] == name), None)
