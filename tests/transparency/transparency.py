"""Programs that must print the same alone and with Millrace, in whatever order their ranks print."""

import pathlib

import hosts
import pytest
from usable import usable

SOURCES = pathlib.Path(__file__).resolve().parent / "programs"
OUT = hosts.BUILD / "tests" / "transparency"


def build(host, source, *flags, name=None):
    out = OUT / hosts.get(host).name / (name or pathlib.Path(source).stem)
    return hosts.compile(host, SOURCES / source, out, flags=flags)


def lines(finished):
    return sorted(finished.stdout.splitlines())


def both(host, ranks, program, *arguments, env=None, timeout=60):
    """Runs alone, then with Millrace: the same lines and exit code, and an end. Returns the second. All communicators
    are agreed on, also where the usual setting would leave those that live short to the host."""
    alone = hosts.run(host, ranks, [program, *arguments], env=env, timeout=timeout).check()
    shared = {"MILLRACE_COLLECTIVES": "always", **(env or {})}
    ours = hosts.run(host, ranks, [program, *arguments], millrace=True, env=shared, timeout=timeout).check()
    assert lines(ours) == lines(alone), ours.stderr
    return ours


def cases(*rows):
    """Parameters `host` and `case`: each row on one host, in turn, and with --full on all."""
    found = []
    for number, row in enumerate(rows):
        for place, name in enumerate(hosts.HOSTS):
            marks = () if number % len(hosts.HOSTS) == place else pytest.mark.full
            words = "-".join(str(word) for word in (row if isinstance(row, tuple) else (row,)))
            found.append(pytest.param(name, row, marks=marks, id=f"{words}-{name}"))
    return pytest.mark.parametrize(("host_name", "case"), found)


__all__ = ["OUT", "SOURCES", "both", "build", "cases", "lines", "usable"]
