"""What is left out without --full: never a whole test, never the same hosts of every test, the same in every run."""

import collections
import types

import hosts
import sampling


class Item:
    """What sampling looks at of one of pytest's."""

    def __init__(self, test, host, sampled=True):
        self.nodeid = f"test_a.py::{test}[{host}-2]"
        self.callspec = types.SimpleNamespace(params={"host": host, "ranks": 2})
        self.sampled = sampled

    def get_closest_marker(self, name):
        return self.sampled and name == "sampled_hosts"


def left(items):
    out = {other.nodeid for other in sampling.left_out(items, hosts.HOSTS)}
    found = collections.defaultdict(set)
    for other in items:
        if other.nodeid not in out:
            host = sampling.host_of(other, hosts.HOSTS)
            found[other.nodeid.replace(host, "*")].add(host)
    return list(found.values())


def test_either_family_and_one_more():
    of_tests = left([Item(f"test_{number}", host) for number in range(40) for host in hosts.HOSTS])
    assert len(of_tests) == 40, "a test runs on no host"
    assert all(set(sampling.ALWAYS) < names and len(names) == 3 for names in of_tests)
    assert set.union(*of_tests) == set(hosts.HOSTS), "a host that no test meets"


def test_others_are_left_alone():
    of_tests = left([Item("test_all", host, sampled=False) for host in hosts.HOSTS] + [Item("test_one", "intel")])
    assert sorted(map(len, of_tests)) == [1, len(hosts.HOSTS)]


def test_it_is_the_same_in_every_run():
    items = [Item(f"test_{number}", host) for number in range(40) for host in hosts.HOSTS]
    first = {other.nodeid for other in sampling.left_out(items, hosts.HOSTS)}
    assert first == {other.nodeid for other in sampling.left_out(items[::-1], hosts.HOSTS)}
