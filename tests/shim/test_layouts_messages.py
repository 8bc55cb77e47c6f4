"""Messages of derived types in every form of call, between ranks with and without Millrace, on every host."""

import hosts
import pytest
from shim_programs import build, call, report, run

ALWAYS = {"MILLRACE_LAYOUTS": "always"}  # the standard setting leaves to the host what it does well
EVERY_HOST = list(hosts.HOSTS)
SENDS = ["Send", "Ssend", "Bsend", "Rsend", "Isend", "Issend", "Send_init"]
RECEIVES = ["Recv", "Mrecv", "Irecv", "Imrecv", "Recv_init"]
BOTH = ["Sendrecv", "Sendrecv_replace"]
ROUNDS = [12, pytest.param(300, marks=pytest.mark.full)]


def all_right(finished, ranks):
    finished.check()
    words = [line.split() for line in finished.stdout.splitlines()]
    assert [word for word, _ in words] == ["right"] * ranks
    assert all(int(messages) > 100 for _, messages in words)


@pytest.mark.parametrize("host", EVERY_HOST)
@pytest.mark.parametrize("rounds", ROUNDS)
def test_every_form_of_call(host, rounds):
    program = build(host, "layouts_messages.cpp")
    finished, result = report(host, 2, program, 21, rounds, "all", env=ALWAYS, timeout=600)
    all_right(finished, 2)
    for name in SENDS + RECEIVES + BOTH:
        entry = call(result, f"MPI_{name}")
        assert entry["taken"] > 0, name
        assert entry["forwarded_why"].get("no_buffer", 0) == 0, name  # what completed gave its buffer back


# One rank packs by layouts, the other is the host's: what travels is the same.
@pytest.mark.parametrize("host", EVERY_HOST)
@pytest.mark.parametrize("rounds", ROUNDS)
@pytest.mark.parametrize("first", ["ours", "the host's"])
def test_one_side_without_millrace(host, first, rounds):
    program = [build(host, "layouts_messages.cpp"), 22, rounds, "all"]
    alone = (
        [*program, ":", "-n", 1, hosts.MILLRACE, *program] if first != "ours" else [*program, ":", "-n", 1, *program]
    )
    all_right(hosts.run(host, 1, alone, millrace=first == "ours", env=ALWAYS, timeout=600), 2)


@pytest.mark.parametrize("host", ["openmpi5", "mpich5"])
def test_four_ranks(host):
    all_right(run(host, 4, build(host, "layouts_messages.cpp"), 23, 4, "all", env=ALWAYS), 4)


@pytest.mark.parametrize("buffers", ["0", "2KiB"])
def test_past_the_cap_the_host_carries_the_message(buffers):
    program = build("mpich5", "layouts_messages.cpp")
    finished, result = report("mpich5", 2, program, 24, 8, "all", env={**ALWAYS, "MILLRACE_BUFFERS": buffers})
    all_right(finished, 2)
    why = call(result, "MPI_Isend")["forwarded_why"]
    assert why["no_buffer"] > 0


def test_disabled_calls_are_the_hosts():
    program = build("openmpi5", "layouts_messages.cpp")
    finished, result = report(
        "openmpi5", 2, program, 21, 12, "all", env={**ALWAYS, "MILLRACE_DISABLE": "Isend,MPI_Recv"}
    )
    all_right(finished, 2)
    assert call(result, "MPI_Isend")["taken"] == call(result, "MPI_Recv")["taken"] == 0
    assert call(result, "MPI_Isend")["forwarded_why"]["disabled"] > 0
    assert call(result, "MPI_Send")["taken"] > 0


def test_the_standard_setting_takes_what_pays_and_leaves_the_rest():
    finished, result = report("mpich5", 2, build("mpich5", "layouts_messages.cpp"), 21, 12, "all")
    all_right(finished, 2)
    entry = call(result, "MPI_Isend")
    assert entry["taken"] > 0  # structures of several types
    assert entry["forwarded_why"]["host_is_faster"] > 0  # vectors of less than 8 KiB


@pytest.mark.parametrize("host", EVERY_HOST)
def test_addresses_with_mpi_bottom(host):
    program = build(host, "layouts_bottom.c")
    finished, result = report(host, 2, program, env=ALWAYS)
    assert finished.stdout == run(host, 2, program, millrace=False).check().stdout == "0 wrong\n"
    sends = [] if host == "mpich4" else ["Isend", "Send_init"]  # it could not receive them (packed/message.cpp)
    for name in ["Recv", "Irecv", "Recv_init", *sends]:
        assert call(result, f"MPI_{name}")["taken"] > 0, name
