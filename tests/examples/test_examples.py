"""The examples compute what one rank alone computes, with and without Millrace, and the same in both."""

import functools

import hosts
import pytest
from example_programs import SOURCES, build, results
from usable import usable

# With every message of a derived type packed by Millrace; and, in full, as it comes.
SETTINGS = [
    pytest.param({"MILLRACE_LAYOUTS": "always"}, id="always"),
    pytest.param({}, id="standard", marks=pytest.mark.full),
]
# name: (ranks, arguments); sizes that no block or vector divides
RUNS = {
    "stencil radius 1": (2, "stencil --size 67 --radius 1 --iterations 12 --grid 1x2"),
    "stencil radius 2 neighbor": (4, "stencil --size 61 --total --radius 2 --iterations 12 --neighbor"),
    "stencil radius 3": (4, "stencil --size 203 --radius 3 --iterations 12 --grid 4x1"),
    "fft2d": (2, "fft2d --size 130 --iterations 6"),
    "fft2d on three": (3, "fft2d --size 39 --iterations 6"),
    "halo3d": (2, "halo3d --size 17 --iterations 13"),
    "particles": (2, "particles --count 1500 --iterations 12"),
    "particles alltoallv": (3, "particles --count 500 --iterations 12 --alltoallv"),
}
FULL = [name for name in hosts.HOSTS if name not in ("openmpi4", "mpich5")]
EVERY_HOST = ["openmpi4", "mpich5", *(pytest.param(name, marks=pytest.mark.full) for name in FULL)]


@functools.cache
def program(host, name):
    return build(host, name)


@pytest.mark.parametrize("setting", SETTINGS)
@pytest.mark.parametrize("host", EVERY_HOST)
@pytest.mark.parametrize("run", RUNS)
def test_results_are_those_of_a_serial_computation(host, run, setting):
    ranks, arguments = RUNS[run]
    name, *options = arguments.split()
    command = [program(usable(host).name, name), *options, "--check"]
    alone = results(hosts.run(host, ranks, command))
    assert alone["check"] == "right" and alone["ranks"] == str(ranks)
    ours = results(hosts.run(host, ranks, command, millrace=True, env=setting))
    assert ours["check"] == "right" and ours["checksum"] == alone["checksum"]


def test_every_example_of_datatypes_is_run():
    assert {path.parent.name for path in SOURCES.glob("*/*.cpp")} == {words.split()[0] for _, words in RUNS.values()}
