"""Calls with the words of one before, which go where that one went without being looked at. Never with a report: what
is recorded goes the long way."""

import hosts
import pytest
from shim_programs import build, check_done, run

pytestmark = pytest.mark.sampled_hosts

INTERFACES = [
    (name, interface)
    for name, host in hosts.HOSTS.items()
    for interface in ("mpi", "mpi_f08")
    if interface in host.fortran_interfaces
]
# Everything ours, also what hosts refuse; as it is for users; and much of it tried by the host.
SETTINGS = {
    "always": ({"MILLRACE_COLLECTIVES": "always"}, ["overlaps"]),
    "default": ({}, []),
    "measured": ({"MILLRACE_MEASURE": "always"}, []),
}


def check(host, ranks, seed, settings):
    env, words = SETTINGS[settings]
    calls = 600 if ranks > 2 and host in ("mpich4", "mpich5", "abi") else 4000
    check_done(host, ranks, build(host, "repeated_calls.cpp"), seed, calls, *words, env=env)


@pytest.mark.parametrize("settings", list(SETTINGS))
@pytest.mark.parametrize("ranks", [2, 3])
@pytest.mark.parametrize("host", list(hosts.HOSTS))
def test_few_shapes(host, ranks, settings):
    check(host, ranks, 77 + ranks, settings)


@pytest.mark.full
@pytest.mark.parametrize("seed", range(20))
@pytest.mark.parametrize("ranks", [1, 2, 4, 5, 7])
@pytest.mark.parametrize("host", list(hosts.HOSTS))
def test_many_seeds(host, ranks, seed):
    check(host, ranks, seed, list(SETTINGS)[seed % 3])


def test_the_host_alone_passes_the_same_test():
    program = build("openmpi4", "repeated_calls.cpp")
    assert run("openmpi4", 3, program, 5, 2000, millrace=False).check().stdout == "done\n"


@pytest.mark.parametrize("host, interface", INTERFACES)
def test_from_fortran(host, interface, request):
    flags = ["-cpp", "-fallow-argument-mismatch"] + (["-DF08"] if interface == "mpi_f08" else [])
    program = build(host, "repeated_calls.F90", *flags, name=f"repeated_calls_{interface}")
    # Three ranks of MPICH 4 on two cores take 20 s for 400; a hundred have every shape and root.
    turns = 100 if host == "mpich4" and not request.config.getoption("--full") else 400
    assert run(host, 3, program, turns, millrace=False).check().stdout == "done\n"
    for ranks in (2, 3):
        assert run(host, ranks, program, turns, env={"MILLRACE_COLLECTIVES": "always"}).check().stdout == "done\n"
