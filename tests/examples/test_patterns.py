"""The access patterns of bench/patterns pack, unpack and travel as their loops by hand do, on every host."""

import hosts
import pytest
from usable import usable

SOURCES = hosts.ROOT / "bench" / "patterns"
FLAGS = ["-std=c++20", "-O2", "-DOMPI_SKIP_MPICXX", SOURCES / "grids.cpp", SOURCES / "lists.cpp"]
PATTERNS, FORMS, SCALES = 17, 3, (16, 40)


@pytest.mark.full
@pytest.mark.parametrize("name", hosts.HOSTS)
@pytest.mark.parametrize("layouts", ["auto", "always"])
def test_patterns_are_their_loops(name, layouts):
    host = usable(name)
    out = hosts.BUILD / "examples" / name / "patterns"
    program = hosts.compile(host, SOURCES / "patterns.cpp", out, flags=FLAGS)
    command = [program, 1, 0.01, *SCALES]  # it compares before it measures
    finished = hosts.run(host, 2, command, millrace=True, env={"MILLRACE_LAYOUTS": layouts}, timeout=120).check()
    assert len(finished.stdout.splitlines()) == PATTERNS * FORMS * len(SCALES)
