"""The stubs against the package, and what a type checker makes of programs."""

import os
import pathlib
import subprocess
import sys

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
PACKAGE = ROOT / "python" / "millrace"
RIGHT = """
import millrace
import numpy as np
from millrace import Layout, mpi

a = np.ones(3)
total: np.ndarray = millrace.reduce("sum", a, a, a, out=a)
for op in millrace.OPS:
    if millrace.supported(op, "f8"):
        millrace.reduce(op, a, a)
millrace.unpack(millrace.pack(a[::2]), a[::2])
column = Layout.blocks([0, 8], [4, 4]).repeat(3, 24)
same: bool = column == Layout.join([column], [0])
packed: int = column.pack(bytearray(80), stop=4).nbytes
statistics = mpi.statistics()
ranks: int = statistics["ranks"] if statistics is not None and mpi.is_active() else 0
"""
WRONG = {
    'millrace.reduce("plus", a, a)': "Literal['plus']",
    "millrace.supported('mean', 'f8')": "Literal['mean']",
    'millrace.reduce("sum", a, [1.0])': "list[float]",
    "millrace.pack(a, into=a)": "into",
    "Layout.strided(3, 8, 8)": "Sequence[int]",
    "mpi.statistics()['ranks']": "not indexable",
    "column.nbytes = 3": "read-only",
}


def mypy(module, *arguments, package=ROOT / "python", directory=None):
    pytest.importorskip("mypy", reason="mypy is not installed: ./dev setup test")
    environment = {**os.environ, "MYPYPATH": str(package), "PYTHONPATH": str(package)}
    line = [sys.executable, "-m", module, *map(str, arguments)]
    return subprocess.run(
        line, env=environment, cwd=directory, capture_output=True, text=True, timeout=120, check=False
    )


@pytest.fixture(scope="module")
def cache(tmp_path_factory):
    return tmp_path_factory.mktemp("mypy")


def test_the_package_says_that_it_has_types():
    assert (PACKAGE / "py.typed").read_text() == "" and (PACKAGE / "__init__.pyi").exists()
    assert '"py.typed", "*.pyi"' in (ROOT / "python" / "pyproject.toml").read_text()


def stubtest(tmp_path, package):
    """What it complains of; modules that begin with an underscore are nobody's business."""
    allowed = tmp_path / "allowed"
    allowed.write_text(r"millrace\._[a-z].*" + "\n")
    words = "millrace", "--allowlist", allowed, "--ignore-unused-allowlist"
    done = mypy("mypy.stubtest", *words, package=package, directory=tmp_path)
    return done.returncode, done.stdout + done.stderr


def test_the_stubs_say_what_the_package_has(tmp_path):
    code, said = stubtest(tmp_path, ROOT / "python")
    assert code == 0, said


def test_a_stub_that_says_something_else_is_seen(tmp_path):
    copy = tmp_path / "python" / "millrace"
    copy.mkdir(parents=True)
    for path in PACKAGE.glob("*.py*"):
        if path.is_file():
            (copy / path.name).write_text(path.read_text())
    stub = copy / "__init__.pyi"
    stub.write_text(stub.read_text().replace("def isa() -> str", "def isa(name: str) -> str"))
    code, said = stubtest(tmp_path, copy.parent)
    assert code == 1 and "millrace.isa" in said, said


def check(cache, program):
    path = cache / "program.py"
    path.write_text(program)
    return mypy("mypy", "--strict", "--cache-dir", cache, path).stdout


def test_a_right_program_passes(cache):
    said = check(cache, RIGHT)
    assert said.startswith("Success"), said


def test_each_wrong_line_is_found(cache):
    first = RIGHT.count("\n") + 1
    said = check(cache, RIGHT + "\n".join(WRONG) + "\n")
    for number, (line, word) in enumerate(WRONG.items(), first):
        errors = [text for text in said.splitlines() if f"program.py:{number}: error" in text]
        assert errors and any(word in text for text in errors), (line, said)
