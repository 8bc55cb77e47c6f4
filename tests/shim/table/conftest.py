"""The generator's modules, and which generation of the table each host under test is."""

import pathlib
import sys

ROOT = pathlib.Path(__file__).resolve().parents[3]
sys.path.insert(0, str(ROOT / "src/shim/generate"))
sys.path.insert(0, str(pathlib.Path(__file__).parent))

import pytest  # noqa: E402
import table as shim_table  # noqa: E402

GENERATION = {
    "openmpi4": "openmpi-4.1", "openmpi5": "openmpi-5.0", "mpich4": "mpich-4.0", "mpich5": "mpich-5.0",
    "intel": "mpich-impi", "abi": "abi-mpich", "abi-intel": "abi-impi",
}  # fmt: skip


@pytest.fixture(scope="session")
def table():
    return shim_table.load()


@pytest.fixture
def generation(host):
    return GENERATION[host.name]
