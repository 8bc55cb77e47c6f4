"""The symbols that a preload of one ABI exports: the C entries and the Fortran names that would bypass them."""

import dataclasses

import fortran
import peers

AROUND_THE_HOST = {  # hooks that call the next definition once, whatever they do besides
    "constructor", "finalize", "group_constructor", "init", "op_create", "op_free", "session_finalize",
    "session_init", "uncounted", "window_constructor", "window_free",
}  # fmt: skip


@dataclasses.dataclass(frozen=True)
class Symbol:
    name: str
    entry: object
    words: int  # how many machine words the call passes
    is_fortran: bool = False
    returns_double: bool = False
    hosts: frozenset = frozenset()  # generations that may have it

    @property
    def template_argument(self):
        return f"Symbol::{self.name}"

    @property
    def hook(self):
        """The instance of a hook that the wrapper calls, or None."""
        if not self.entry.hook:
            return None
        arguments = [self.template_argument, *filter(None, [self.entry.hook_function])]
        return f"hook::{self.entry.hook}<{', '.join(arguments)}>"

    @property
    def may_be_ours(self):
        """Whether we may do the call without the next definition, or call that more than once: a tool between us and
        the host would see other calls than the program made."""
        if self.returns_double or not self.hosts:
            return False
        if self.entry.hook:
            return self.entry.hook not in AROUND_THE_HOST
        return peers.answer(self.entry) >= 0


def of_abi(table, abi):
    """Every C entry first, in the order of the table (also those that no host of this ABI has: the numbers of Symbol
    and Entry agree), then the Fortran symbols of this ABI."""
    generations = set(table.of_abi(abi))
    symbols = [
        Symbol(e.name, e, len(e.parameters), returns_double=e.returns == "seconds", hosts=e.hosts & generations)
        for e in table.entries
    ]
    for entry in table.entries:
        for name, hosts in fortran.symbol_names(entry, abi, generations):
            symbols.append(
                Symbol(name, entry, fortran.words(entry), True, entry.returns == "seconds", frozenset(hosts))
            )
    return symbols


def exported(symbols, generations):
    """Those that every one of `generations` has: what may be put in front of a host that is one of them."""
    return [s for s in symbols if generations and set(generations) <= s.hosts]


def export_lists(table, abi):
    """name of the preload -> generations that it must suit; the base list suits all of the ABI."""
    generations = table.of_abi(abi)
    return {abi: generations} | {name: [name] for name in generations}
