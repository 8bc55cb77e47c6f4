"""The examples of docs/python.md and of the docstrings, run."""

import doctest
import json
import os
import pathlib
import re

import hosts
import millrace
import numpy as np
import pytest
from millrace import _layout, mpi
from usable import usable

ROOT = pathlib.Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs" / "python.md"
BLOCKS = re.findall(r"^```python\n(.*?)^```", PAGE.read_text(), re.MULTILINE | re.DOTALL)
SESSIONS = [block for block in BLOCKS if block.startswith(">>>")]
PROGRAMS = [block for block in BLOCKS if not block.startswith(">>>")]


def examples(text):
    """All sessions as one. Where the page breaks a long line it says so by a backslash."""
    return doctest.DocTestParser().get_doctest(text.replace("\\\n", ""), {}, PAGE.name, str(PAGE), 0)


def failures(test):
    said = []
    runner = doctest.DocTestRunner()
    runner.run(test, out=said.append)
    return runner.failures, "".join(said)


def test_the_page_has_examples():
    assert len(examples("\n".join(SESSIONS)).examples) > 30 and len(PROGRAMS) == 1


def test_the_examples_give_what_the_page_says():
    failed, said = failures(examples("\n".join(SESSIONS)))
    assert failed == 0, said


def test_the_examples_of_the_quick_start():
    blocks = re.findall(r"^```python\n(.*?)^```", (ROOT / "docs/quickstart.md").read_text(), re.MULTILINE | re.DOTALL)
    assert sum(len(examples(block).examples) for block in blocks) >= 4
    assert failures(examples("\n".join(blocks))) == (0, "")


def test_an_example_that_gives_something_else_is_seen():
    text = "\n".join(SESSIONS).replace("array([1, 5, 9])", "array([1, 5, 8])")
    failed, said = failures(examples(text))
    assert failed == 1 and "array([1, 5, 8])" in said


@pytest.mark.parametrize("module", [millrace, _layout, mpi], ids=lambda module: module.__name__)
def test_docstrings(module):
    names = {"np": np, "millrace": millrace, "Layout": millrace.Layout}
    tests = [test for test in doctest.DocTestFinder().find(module, extraglobs=names) if test.examples]
    assert tests
    for test in tests:
        failed, said = failures(test)
        assert failed == 0, said


def test_every_public_name_is_on_the_page():
    text = PAGE.read_text()
    missing = [name for name in (*millrace.__all__, *mpi.__all__) if not re.search(rf"\b{name}\b", text)]
    assert missing == []


@pytest.mark.parametrize("name", ["openmpi4", "mpich4"])
def test_the_program_prints_what_was_taken(name, tmp_path):
    host = usable(name)
    environment = {"PYTHONPATH": str(ROOT / "python"), "MILLRACE_LIBRARY": os.environ["MILLRACE_LIBRARY"]}
    command = [str(host.python), "-c", PROGRAMS[0]]
    report = tmp_path / "run.json"
    done = hosts.run(name, 2, command, millrace=[f"--report={report}"], env=environment, timeout=60)
    assert done.returncode == 0, done
    lines = sorted(done.stdout.splitlines())
    pattern = r"([01]) MPI_Allreduce(_c)? 100 calls, \d+ taken"
    assert [re.fullmatch(pattern, line)[1] for line in lines] == ["0", "1"], lines
    assert all(int(line.split()[4]) > 50 for line in lines), lines
    assert json.loads(report.read_text())["ranks"] == 2
