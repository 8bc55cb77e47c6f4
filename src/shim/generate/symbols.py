"""The symbols that a preload of one ABI exports: the C entries and the Fortran names that would bypass them."""

import dataclasses

import fortran


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
