"""Runs what measures a figure, a piece at a time, each with a deadline, and says where it is."""

import contextlib
import csv
import datetime
import os
import pathlib
import shlex
import subprocess
import sys

import data
import hosts

TOOLS = hosts.ENVIRONMENTS / "tools/bin/python"
PICTURES = hosts.ENVIRONMENTS / "plot/bin/python"


def processor():
    """As /proc/cpuinfo names it, with family and model: some names say little."""
    facts = {}
    for line in pathlib.Path("/proc/cpuinfo").read_text().split("\n\n")[0].splitlines():
        key, _, value = line.partition(":")
        facts[key.strip()] = value.strip()
    name = facts.get("model name", "unknown")
    if "cpu family" in facts:
        name += f", family {facts['cpu family']}, model {facts['model']}"
    return f"{len(os.sched_getaffinity(0))} cores of {name}"


def about(names):
    """What is written in front of the points."""
    titles = ", ".join(hosts.get(name).title for name in names)
    return {
        "date": datetime.date.today().isoformat(),
        "processor": processor(),
        **({"hosts": titles} if titles else {}),
    }


class Failed(Exception):
    """What a piece said when it failed."""


WAITING_SECONDS = 1200  # that a command in front of a piece may wait for a quiet machine


class Runner:
    """`under` is put in front of every piece; `say` is told what begins, `done` how many seconds were foreseen."""

    def __init__(self, scratch, under="", say=print, done=lambda _: None):
        self.scratch, self.under, self.say, self.done = pathlib.Path(scratch), shlex.split(under), say, done
        self.scratch.mkdir(parents=True, exist_ok=True)
        self.rows = {}  # two figures may show the same run

    def run(self, what, seconds, *command, env=None, timed=True):
        """One piece; returns what it printed. It may take four times as long as foreseen, and a minute. One that takes
        no time of anything (`timed`) needs no quiet machine, so nothing is put in front of it."""
        self.say(what)
        under = self.under if timed else []
        line = [*under, *map(str, command)]
        environment = {**os.environ, "PYTHONPATH": str(hosts.ROOT / "tests/hosts"), "BUILD_DIR": str(hosts.BUILD),
                       **(env or {})}  # fmt: skip
        limit = 60 + 4 * seconds + (WAITING_SECONDS if under else 0)
        try:
            done = subprocess.run(line, capture_output=True, text=True, env=environment, timeout=limit)
        except subprocess.TimeoutExpired as error:
            raise Failed(f"{what}: no end after {error.timeout:.0f} s: {shlex.join(line)}") from None
        if done.returncode != 0:
            raise Failed(f"{what}: {shlex.join(line)}\n{done.stdout[-2000:]}{done.stderr[-2000:]}")
        self.done(seconds)
        return done.stdout

    def bench(self, name, seconds, *options, script="run.py", what="", inside="", timed=True):
        """A benchmark of bench/ that writes a CSV file (or `inside` a directory of them): its rows, as dictionaries."""
        key = (name, script, *map(str, options))
        if key in self.rows:
            return self.rows[key]
        target = self.scratch / name / inside if inside else self.scratch / f"{name}.csv"
        with contextlib.suppress(FileNotFoundError):
            target.unlink()
        path = hosts.ROOT / "bench" / name / script
        self.run(what or name, seconds, TOOLS if TOOLS.exists() else sys.executable, path, *options, "--csv",
                 target.parent if inside else target, timed=timed)  # fmt: skip
        with target.open(newline="") as file:
            self.rows[key] = list(csv.DictReader(file))
        return self.rows[key]


def measure(figure, runner):
    """The Data of a figure, measured now."""
    points = list(figure.measure(runner))
    if not points:
        raise Failed("nothing was measured")
    return data.Data(points, about(figure.hosts))
