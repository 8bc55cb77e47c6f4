"""Which entries ring ranks that sleep (src/shim/generate/peers.py)."""

import fnmatch

import peers
import table as shim_table

TABLE = shim_table.load()


def test_every_name_is_an_entry():
    names = {entry.identifier for entry in TABLE.entries}
    for pattern in (*peers.BLOCKING, *peers.CONNECTING, *peers.NONBLOCKING, *peers.LOCAL):
        assert fnmatch.filter(names, pattern), f"no entry is called MPI_{pattern}"


def test_no_name_is_in_two_lists():
    for entry in TABLE.entries:
        lists = [
            patterns
            for patterns in (peers.BLOCKING, peers.CONNECTING, peers.NONBLOCKING)
            if peers.listed(entry.identifier, patterns)
        ]
        assert len(lists) < 2, entry.name


def test_calls_that_move_data_need_peers():
    local = {*peers.LOCAL, "Reduce_local", "Pack", "Unpack", "Pack_external", "Unpack_external"}
    for entry in TABLE.entries:
        if entry.posted and entry.identifier.removesuffix("_c") not in local:
            assert peers.of_entry(entry) != "none", entry.name


def test_large_twins_are_like_the_others():
    by_name = {entry.name: peers.of_entry(entry) for entry in TABLE.entries}
    for entry in TABLE.entries:
        if entry.large:
            assert peers.of_entry(entry) == by_name[entry.name.removesuffix("_c")], entry.name


def test_queries_do_not():
    by_name = {entry.identifier: peers.of_entry(entry) for entry in TABLE.entries}
    for name in ("Comm_rank", "Get_count", "Type_size", "Wtime", "Comm_get_attr", "Reduce_local", "Win_get_group"):
        assert by_name[name] == "none", name
