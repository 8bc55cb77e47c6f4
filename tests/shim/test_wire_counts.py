"""What `millrace explain --nodes` says of the wire, beside what the interfaces of two or three nodes have counted."""

import re

import hosts
import nodes
import process
import pytest
from shim_programs import build

WHY_NOT = nodes.missing()
pytestmark = pytest.mark.skipif(WHY_NOT is not None, reason=str(WHY_NOT))
OVER_NODES = {"MILLRACE_NODES": "always", "MILLRACE_COLLECTIVES": "always", "MILLRACE_MEASURE": "never"}
KINDS = ("barrier", "bcast", "reduce", "allreduce", "gather", "scatter", "allgather", "alltoall", "reduce_scatter",
         "scan", "exscan")  # fmt: skip
# Ethernet, IPv4, TCP with time stamps.
TCP_BYTES = 14 + 20 + 32
# Open MPI's and UCX's and MPICH's own headers of a message, or of a part of one, of which each begins a packet; what
# they tell each other besides (that a long message may come) are packets, too.
MPI_BYTES = 64


def explained(kind, size, node_count, ranks):
    """Of the composition, and of the host alone: for each algorithm messages, bytes out, of the node that has most."""
    words = [hosts.MILLRACE, "explain", kind, size, "--nodes", node_count, "--ranks", ranks]
    text = process.run(words, hosts.environment("openmpi4"), 60).check().stdout
    parts = text.split("the same by the host alone")
    assert len(parts) == 2, text
    found = [re.findall(r"(\d+) messages +(\d+) bytes out", part) for part in parts]
    assert all(found), text
    return [[(int(messages), int(out)) for messages, out in part] for part in found]


def counted(made, host, size, calls, millrace):
    """Of each collective: packets and bytes without TCP's headers, of the node that has sent most bytes."""
    program = build(host, "wire_counts.c")
    env = OVER_NODES if millrace else {}
    finished = made.run(host, 2, [program, size, calls], millrace=millrace, env=env, timeout=300).check()
    lines = [line.split() for line in finished.stdout.splitlines()]
    assert len(lines) == len(KINDS) * len(made.names), finished.stdout
    most = {}
    for _, kind, packets, sent in lines:
        payload = int(sent) - int(packets) * TCP_BYTES
        most[kind] = max(most.get(kind, (0, 0)), (int(packets), payload), key=lambda each: each[1])
    return most


def check(kind, calls, packets, payload, algorithms):
    """Nothing is forgotten, and what is too much are headers."""
    least, most = min(out for _, out in algorithms) * calls, max(out for _, out in algorithms) * calls
    said = f"{kind}: {packets} packets with {payload} bytes, of {least} to {most}"
    assert payload >= least, said
    assert payload <= most + packets * MPI_BYTES, said
    return said


# Not MPICH 4, which does not end where it can go by nothing but the wire (tests/hosts/nodes.py).
@pytest.mark.parametrize(
    "count, host", [(2, "openmpi4"), (3, "openmpi4"), pytest.param(2, "mpich5", marks=pytest.mark.full)]
)
def test_long_messages(count, host):
    ranks, size, calls = 2 * count, 96 << 10, 20
    with nodes.Nodes(count, own_ipc=True) as made:
        ours, alone = (counted(made, host, size, calls, millrace) for millrace in (True, False))
    for kind in KINDS:
        composed, flat = explained(kind, 0 if kind == "barrier" else size, count, ranks)
        print(host, check(kind, calls, *ours[kind], composed), "alone", alone[kind], flat)
    if count == 2:
        # Once each way; of the host alone as often as there are ranks on a node, if it does not look at nodes.
        assert {out for _, out in explained("allreduce", size, 2, ranks)[0]} == {size}
