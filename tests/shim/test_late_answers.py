"""What was sent before a collective in shared memory is there for who asks after it (shim/bind/late_answers.h)."""

import hosts
import pytest
from shim_programs import OUT, build, call, report

pytestmark = pytest.mark.sampled_hosts

# Beside other processes the job's own measurement gives some of the meetings to the host, and those are the host's.
OURS = {"MILLRACE_MEASURE": "never"}
KINDS = ["iprobe", "improbe", "test", "testall", "win_test"]
INTERFACES = [
    (name, interface)
    for name, host in hosts.HOSTS.items()
    for interface in ("mpi", "mpi_f08")
    if interface in host.fortran_interfaces
]


def taken(result):
    return all(call(result, name)["taken"] > 100 for name in ("MPI_Barrier", "MPI_Allreduce", "MPI_Allgather"))


@pytest.mark.parametrize("ranks", [2, 3, 5])
@pytest.mark.parametrize("host", hosts.HOSTS)
def test_nothing_that_was_sent_is_late(host, ranks):
    """Open MPI and MPICH 4 see to that by themselves where there are two ranks; MPICH 5 and Intel MPI do not."""
    finished, result = report(host, ranks, build(host, "late_answers.c"), 100, env=OURS)
    assert finished.stdout.splitlines() == [*(f"late {kind} 0" for kind in KINDS), "lost messages 0"]
    assert taken(result)


@pytest.mark.parametrize("host, interface", INTERFACES)
def test_nor_from_fortran(host, interface):
    modules = OUT / host / interface
    modules.mkdir(parents=True, exist_ok=True)
    flags = ["-cpp", "-fallow-argument-mismatch", *(["-DF08"] if interface == "mpi_f08" else [])]
    program = build(host, "late_answers.F90", *flags, name=f"late_answers_{interface}")
    finished, result = report(host, 3, program, env=OURS)
    assert finished.stdout.split() == ["late", "0"]
    assert call(result, "MPI_Barrier")["taken"] > 100
