"""Builds the examples that live on derived datatypes, and reads the line that they print."""

import hosts

SOURCES = hosts.ROOT / "examples"
FLAGS = ("-std=c++20", "-O3", "-ffp-contract=off", "-DOMPI_SKIP_MPICXX")
LIBRARIES = {"fft2d": ["-lfftw3"]}


def build(host, name, out=None, flags=FLAGS):
    out = out or hosts.BUILD / "examples" / hosts.get(host).name / name
    return hosts.compile(host, SOURCES / name / f"{name}.cpp", out, flags=[*flags, *LIBRARIES.get(name, [])])


def results(finished):
    """The words NAME=VALUE of the line of results, as text."""
    line = finished.check().stdout.strip().splitlines()[-1]
    return dict(word.split("=", 1) for word in line.split() if "=" in word)
