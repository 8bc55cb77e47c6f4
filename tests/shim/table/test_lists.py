"""What the launcher believes of the preloads without opening them, against what they export."""

import re

import hosts
import write_lists
from symbols_of import exported_functions

PRELOADS = hosts.BUILD / "lib" / "millrace"


def known(table):
    """name of a preload -> its entries, in the order in which the launcher looks at them"""
    source = write_lists.source(table)
    arrays = {name: re.findall(r'"(\w+)"', body) for name, body in re.findall(r"(of_\w+)\[\] = {(.*?)};", source, re.S)}
    return {name: arrays[array] for _, name, array in re.findall(r'{"(\w+)", "([\w.-]+)", (of_\w+)}', source)}


def test_each_preload_exports_what_the_launcher_believes(table):
    lists = known(table)
    assert {f"libmillrace-{name}.so" for name in lists} == {path.name for path in PRELOADS.glob("libmillrace-*.so")}
    for name, entries in lists.items():
        exported = exported_functions(PRELOADS / f"libmillrace-{name}.so")
        in_c = {each for each in exported if each.startswith("MPI_") and each != each.upper()}
        assert len(entries) == len(set(entries)) and set(entries) == in_c, name


def test_what_a_host_may_lack_comes_first_and_the_base_list_last(table):
    lists = known(table)
    for abi in table.abis():
        names = [name for name in lists if name.split("-")[0] == abi]
        base = set(lists[abi])
        assert names[-1] == abi and len(names) > 1
        for name in names:
            more = len(lists[name]) - len(base)
            assert set(lists[name][more:]) == base
