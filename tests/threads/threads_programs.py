"""Builds the programs of this directory and runs them."""

import json
import pathlib
import uuid

import hosts

ROOT = hosts.ROOT
SOURCES = pathlib.Path(__file__).resolve().parent / "programs"
OUT = hosts.BUILD / "tests" / "threads"


def build(host, source, *flags, library=False, name=None):
    """`library`: with millrace.h and libmillrace."""
    out = OUT / host.name / (name or pathlib.Path(source).stem)
    directory = hosts.BUILD / "lib"
    includes = [f"-I{ROOT}/include", f"-I{hosts.BUILD}/include"]
    ours = [*includes, f"-L{directory}", f"-Wl,-rpath,{directory}", "-lmillrace"] if library else []
    return hosts.compile(host, SOURCES / source, out, flags=[*flags, *ours])


def run(host, ranks, program, *arguments, millrace=True, env=None):
    return hosts.run(host, ranks, [program, *arguments], millrace=millrace, env=env, timeout=120)


def report(host, ranks, program, env):
    path = OUT / f"report-{uuid.uuid4().hex}.json"
    try:
        finished = run(host, ranks, program, env={"MILLRACE_REPORT": path, **env}).check()
        return finished, json.loads(path.read_text())
    finally:
        path.unlink(missing_ok=True)
