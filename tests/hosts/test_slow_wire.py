"""The wire that takes its time (nodes.Nodes(delay_us=...)): what a round trip of TCP takes on it, and that it loses."""

import subprocess
import sys

import nodes
import pytest

WHY_NOT = nodes.missing()
pytestmark = pytest.mark.skipif(WHY_NOT is not None, reason=str(WHY_NOT))

SERVER = """
import socket
with socket.create_server(("", 5000)) as server:
    print("ready", flush=True)
    connection, _ = server.accept()
    while data := connection.recv(1):
        connection.sendall(data)
"""
# The least of some round trips, in us; "lost" where there is no connection within a second.
CLIENT = """
import socket, sys, time
try:
    with socket.create_connection((sys.argv[1], 5000), timeout=1) as connection:
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        times = []
        for _ in range(20):
            begin = time.perf_counter()
            connection.sendall(b"x")
            connection.recv(1)
            times.append(time.perf_counter() - begin)
        print(1e6 * min(times))
except TimeoutError:
    print("lost")
"""


def round_trip(made):
    def on(index, *words):
        return ["ip", "netns", "exec", made.names[index], sys.executable, "-c", *words]

    with subprocess.Popen(on(1, SERVER), stdout=subprocess.PIPE, text=True) as server:
        assert server.stdout.readline() == "ready\n"
        done = subprocess.run(
            on(0, CLIENT, made.addresses[1]), capture_output=True, text=True, check=True, timeout=60
        )  # fmt: skip
        server.kill()
    return done.stdout.strip()


def test_a_round_trip_takes_the_delay_twice():
    with nodes.Nodes(2, delay_us=20_000) as made:
        assert float(round_trip(made)) >= 40_000
    with nodes.Nodes(2) as made:
        assert float(round_trip(made)) < 40_000


def test_what_is_lost_does_not_come():
    with nodes.Nodes(2, delay_us=1, lost_of_million=1_000_000) as made:
        assert round_trip(made) == "lost"
