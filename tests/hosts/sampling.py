"""Which of the hosts a test marked `sampled_hosts` runs on when not everything is run.

Launching is what most tests of MPI programs take: 0.1 s to 1.3 s each, times six hosts. Such a test runs on the
quickest of either family and on one more, which its own name picks: the same one in every run, another for the next
test, so that every host still meets a share of every file.
"""

import zlib

ALWAYS = ("openmpi4", "mpich4")


def host_of(item, names):
    """The name of the host that is one of the test's parameters, or None."""
    callspec = getattr(item, "callspec", None)
    values = callspec.params.values() if callspec else ()
    return next((value for value in values if isinstance(value, str) and value in names), None)


def left_out(items, names):
    """Of tests that differ by their host alone: those of hosts that are neither in ALWAYS nor picked."""
    alike = {}
    for item in items:
        host = host_of(item, names)
        if host and item.get_closest_marker("sampled_hosts"):
            alike.setdefault(item.nodeid.replace(host, "*"), {})[host] = item
    out = set()
    for key, by_host in alike.items():
        others = sorted(set(by_host) - set(ALWAYS))
        picked = others[zlib.crc32(key.encode()) % len(others)] if others else None
        out.update(by_host[host] for host in others if host != picked)
    return out
