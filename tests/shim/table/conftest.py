"""The generator's modules, the table, and which generation of it each host under test is."""

import pathlib
import sys

ROOT = pathlib.Path(__file__).resolve().parents[3]
sys.path.insert(0, str(ROOT / "src/shim/generate"))
sys.path.insert(0, str(pathlib.Path(__file__).parent))

import pytest  # noqa: E402
import table as shim_table  # noqa: E402


@pytest.fixture(scope="session")
def table():
    return shim_table.load()


@pytest.fixture
def generation(host):
    return host.generation
