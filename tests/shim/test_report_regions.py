"""Regions of a program that it marks by MPI_Pcontrol, as the report has them and as the program counted them; and
MPI_Pcontrol itself, which reaches whoever stood behind it."""

import json

import hosts
import pytest
from shim_programs import OUT, SOURCES, build, report, run

pytestmark = pytest.mark.sampled_hosts
HOSTS = list(hosts.HOSTS)
NAMED = {"MILLRACE_REGIONS": "named"}
WITH_FORTRAN = [
    (name, interface)
    for name, host in hosts.HOSTS.items()
    for interface in ("mpi", "mpi_f08")
    if interface in host.fortran_interfaces
]


def program_of(host):
    return build(host, "regions.c", "-pthread")


def counted(finished):
    """name: (ranks, entered, calls, bytes), over all ranks."""
    regions = {}
    for line in finished.stdout.splitlines():
        name, *counts = line.split("|")
        regions[name] = tuple(map(sum, zip(regions.get(name, (0, 0, 0, 0)), (1, *map(int, counts)), strict=True)))
    return regions


def reported(*reports):
    regions = {}
    for region in (region for one in reports for region in one["regions"]["all"]):
        counts = tuple(region[column] for column in ("ranks", "entered", "calls", "bytes"))
        regions[region["name"]] = tuple(map(sum, zip(regions.get(region["name"], (0, 0, 0, 0)), counts, strict=True)))
    return regions


@pytest.mark.parametrize("host", HOSTS)
def test_levels(host):
    finished, result = report(host, 2, program_of(host), "levels")
    assert reported(result) == counted(finished)
    assert len(result["regions"]["all"]) == 2
    assert result["regions"]["unbalanced"] == 0
    for region in result["regions"]["all"]:
        assert 0 < region["mpi_ns"] <= region["wall_ns"]
        assert region["wall_ns"] / 2 <= region["longest"]["wall_ns"] <= region["wall_ns"]


@pytest.mark.parametrize("host", HOSTS)
def test_names(host):
    finished, result = report(host, 2, program_of(host), "named", env=NAMED)
    assert reported(result) == counted(finished) | {"open until the end": (2, 2, 6, 24)}
    assert result["regions"]["unbalanced"] == 0


@pytest.mark.parametrize("host", HOSTS)
def test_names_that_are_none_or_end_with_their_page(host):
    finished, result = report(host, 1, program_of(host), "names", env=NAMED)
    assert reported(result) == counted(finished)
    assert result["regions"]["unbalanced"] == 4


@pytest.mark.parametrize("host", HOSTS)
def test_names_are_not_touched_unless_asked_for(host):
    assert report(host, 1, program_of(host), "names")[1]["regions"] == {"unbalanced": 0, "all": []}
    assert report(host, 1, program_of(host), "levels", env={"MILLRACE_REGIONS": "off"})[1]["regions"]["all"] == []


@pytest.mark.parametrize("host", HOSTS)
def test_what_other_threads_do_is_in_it(host):
    finished, result = report(host, 2, program_of(host), "threads")
    assert reported(result) == counted(finished)


@pytest.mark.parametrize("host", HOSTS)
def test_on_two_nodes(host, tmp_path):
    env = {"MILLRACE_REPORT": tmp_path / "run.json", "MILLRACE_NODE_SPLIT": "1+2", "MILLRACE_LOG": "error"}
    finished = run(host, 3, program_of(host), "levels", env=env).check()
    found = [json.loads(path.read_text()) for path in tmp_path.glob("*.json")]
    assert len(found) == 2
    assert reported(*found) == counted(finished)


@pytest.mark.parametrize("host", HOSTS)
@pytest.mark.parametrize("settings", [{}, {"MILLRACE_REPORT": "1"}, {"MILLRACE_REPORT": "1"} | NAMED])
def test_a_profiler_gets_what_the_program_gives(host, settings):
    flags = ["-shared", "-fPIC"]
    tool = hosts.compile(host, SOURCES / "regions_tool.c", OUT / host / "libregions_tool.so", flags=flags)
    program = build(host, "regions_words.c")
    finished = run(host, 1, program, env={"LD_PRELOAD": tool} | settings).check()
    assert finished.stdout == "0 wrong, 101 95\n"


@pytest.mark.parametrize("host, interface", WITH_FORTRAN)
def test_fortran(host, interface):
    flags = ["-cpp"] + (["-DF08"] if interface == "mpi_f08" else [])
    program = build(host, "regions.F90", *flags, name=f"regions_{interface}")
    result = report(host, 2, program)[1]
    assert reported(result) == {"MPI_Pcontrol(3)": (2, 2, 8, 0), "MPI_Pcontrol(9)": (2, 2, 2, 0)}
    assert result["regions"]["unbalanced"] == 0


@pytest.mark.parametrize("host", [name for name, interface in WITH_FORTRAN if interface == "mpi"])
def test_names_from_fortran(host):
    flags = ["-cpp", "-DMPIFH", "-fallow-argument-mismatch"]
    result = report(host, 2, build(host, "regions.F90", *flags, name="regions_mpifh"), env=NAMED)[1]
    assert reported(result) == {"with its end": (2, 2, 10, 0), "without": (2, 2, 6, 0)}
    assert result["regions"]["unbalanced"] == 0
