"""Messages of derived types that complete in unusual ways, and of several threads at once: as by the host alone."""

import hosts
import pytest
from shim_programs import build, call, report, run

ALWAYS = {"MILLRACE_LAYOUTS": "always"}


def without_order(text):
    """Requests complete in an order that no one promises. Whether the message behind the one
    that is too long has come by then depends on the moment."""
    return sorted(line for line in text.splitlines() if " 3: " not in line)


@pytest.mark.parametrize("host", list(hosts.HOSTS))
def test_as_by_the_host(host):
    program = build(host, "layouts_completions.c")
    arguments = ["old"] if host == "mpich4" else []
    finished, result = report(host, 2, program, *arguments, env=ALWAYS)
    assert call(result, "MPI_Irecv")["taken"] > 0
    assert "truncate" in finished.stdout
    assert "wrong" not in finished.stdout
    alone = run(host, 2, program, *arguments, millrace=False).check()
    assert without_order(finished.stdout) == without_order(alone.stdout)


@pytest.mark.parametrize("host", ["mpich5", "abi"])
def test_replacing(host):
    """MPICH 5.0 by itself writes something else into the blocks."""
    finished = run(host, 2, build(host, "layouts_completions.c"), "replace", env=ALWAYS).check()
    assert finished.stdout.count("isendrecv_replace: right") == 3


# Threads within MPICH 4.0 end in an assertion of UCX, sooner or later, without Millrace too.
@pytest.mark.parametrize("host", [host for host in hosts.HOSTS if host != "mpich4"])
def test_threads(host):
    program = build(host, "layouts_threads.c", "-pthread")
    finished, result = report(host, 2, program, 3, 60, env=ALWAYS)
    if "no MPI_THREAD_MULTIPLE" in finished.stdout:
        pytest.skip("the host has no MPI_THREAD_MULTIPLE")
    assert finished.stdout.count("right") == 2  # launchers join what ranks print at once
    assert call(result, "MPI_Isend")["taken"] > 0


@pytest.mark.parametrize("host", list(hosts.HOSTS))
def test_persistent_requests_of_types_used_once(host):
    finished, result = report(host, 2, build(host, "layouts_first_init.c"), env=ALWAYS)
    alone = run(host, 2, build(host, "layouts_first_init.c"), millrace=False).check()
    assert finished.stdout == alone.stdout
    assert finished.stdout.startswith("0 wrong")
    assert call(result, "MPI_Send_init")["taken"] == 2 * 4
