"""Reads the table of MPI entry points (../table/entries.txt describes the format)."""

import dataclasses
import pathlib
import re

DEFAULT_PATH = pathlib.Path(__file__).resolve().parent.parent / "table" / "entries.txt"


class TableError(Exception):
    """What is wrong, with file and line."""


@dataclasses.dataclass(frozen=True)
class Generation:
    name: str
    abi: str
    library: str
    host: str


@dataclasses.dataclass(frozen=True)
class Parameter:
    name: str
    kind: str
    direction: str = "in"  # in, out, inout
    dimensions: str = ""  # "", "[]", "[][3]"
    large_only: bool = False

    @property
    def is_callback(self):
        return self.kind.startswith("callback:")


@dataclasses.dataclass(frozen=True)
class Posted:
    """One alternative of a bytes rule: names of parameters, None where there is none; count None means one element."""

    buffer: str
    count: str | None
    datatype: str
    shape: str = "whole"  # whole, each, array, mine
    peer: str | None = None


@dataclasses.dataclass
class Entry:
    name: str
    parameters: list
    returns: str = "error"
    since: str = ""
    deprecated: str | None = None
    removed: str | None = None
    hosts: frozenset = frozenset()
    fortran: str | None = None  # all, mpifh, None
    fortran_hosts: frozenset = frozenset()  # those of C unless said otherwise
    posted: tuple = ()
    hook: str | None = None  # what the wrappers call instead of forwarding, and with which function
    hook_function: str | None = None
    large: bool = False  # this is the twin MPI_Name_c

    @property
    def identifier(self):
        return self.name.removeprefix("MPI_")

    @property
    def base_identifier(self):
        """Of the entry that this one is the twin of."""
        return self.identifier.removesuffix("_c") if self.large else self.identifier

    def index(self, name):
        """Position of a parameter among this entry's C parameters, -1 for None."""
        return -1 if name is None else [p.name for p in self.parameters].index(name)


@dataclasses.dataclass
class Table:
    generations: list
    entries: list  # sorted by name: the position is the number of the Entry

    def abis(self):
        return list(dict.fromkeys(g.abi for g in self.generations))

    def of_abi(self, abi):
        return [g.name for g in self.generations if g.abi == abi]


def load(path=DEFAULT_PATH):
    path = pathlib.Path(path)
    generations, chapters = [], []
    for number, line in _lines(path):
        words = line.split(None, 4)
        if words[0] == "generation" and len(words) == 5:
            generations.append(Generation(*words[1:]))
        elif words[0] == "chapter" and len(words) == 2:
            chapters.append(path.parent / words[1])
        else:
            raise TableError(f"{path}:{number}: neither a generation nor a chapter: {line}")
    entries = {}
    for chapter in chapters:
        for where, text in _blocks(chapter):
            for entry in _parse_block(where, text, generations):
                if entry.name in entries:
                    raise TableError(f"{where}: {entry.name} is there twice")
                entries[entry.name] = entry
    return Table(generations, [entries[name] for name in sorted(entries)])


def _lines(path):
    for number, line in enumerate(path.read_text().splitlines(), 1):
        line = line.split("#", 1)[0].rstrip()
        if line:
            yield number, line


def _blocks(path):
    start, block = 0, []
    for number, line in _lines(path):
        if line.startswith("MPI_") and block:
            yield f"{path}:{start}", block
            block = []
        if not block:
            start = number
        block.append(line.strip())
    if block:
        yield f"{path}:{start}", block


def _parse_block(where, lines, generations):
    text = " ".join(lines)
    match = re.match(r"(MPI_\w+)\((.*?)\)(?: -> (\w+))? (since .*)$", text)
    if not match:
        raise TableError(f"{where}: not MPI_Name(parameters) since ...: {text[:60]}")
    name, parameters, returns, rest = match.groups()
    facts, _, rest = rest.partition(" bytes ") if " bytes " in rest else (rest, "", "")
    hook = re.search(r" hook (\w+)(?: (\w+))?$", rest or facts)
    posted = re.sub(r" hook \w+( \w+)?$", "", rest)
    facts = re.sub(r" hook \w+( \w+)?$", "", facts)
    parameters = [_parse_parameter(where, p) for p in parameters.split(", ")] if parameters else []
    entry = Entry(name, [p for p in parameters if not p.large_only], returns or "error")
    large = _parse_facts(where, entry, facts, generations)
    entry.posted = tuple(_parse_posted(where, p, parameters) for p in posted.split(" or ")) if posted else ()
    if hook:
        entry.hook, entry.hook_function = hook.groups()
    yield entry
    if large:
        twin = dataclasses.replace(entry, name=f"{name}_c", parameters=parameters, large=True)
        twin.since, twin.hosts = large
        twin.fortran_hosts, twin.deprecated, twin.removed = twin.hosts, None, None
        yield twin


def _parse_parameter(where, text):
    match = re.fullmatch(r"(large )?(?:(out|inout) )?([\w:]+) (\w+)(\[\]|\[\]\[3\])?", text.strip())
    if not match:
        raise TableError(f"{where}: not a parameter: {text}")
    return Parameter(match[4], match[3], match[2] or "in", match[5] or "", bool(match[1]))


def _parse_facts(where, entry, text, generations):
    large = None
    for fact in re.split(r"[;,] ", text):
        word, _, value = fact.partition(" ")
        if word in ("since", "deprecated", "removed"):
            setattr(entry, word, value)
        elif word == "on":
            entry.hosts = _parse_hosts(where, value, generations)
        elif word == "large":
            version, hosts = value.split(" on ")
            large = (version, _parse_hosts(where, hosts, generations))
        elif word == "fortran" and re.match("(all|mpifh)( on .*)?$", value):
            entry.fortran, _, hosts = value.partition(" on ")
            entry.fortran_hosts = _parse_hosts(where, hosts, generations) if hosts else entry.hosts
        elif fact != "c only":
            raise TableError(f"{where}: unknown fact: {fact}")
    return large


def _parse_hosts(where, text, generations):
    hosts = set()
    for word in text.split():
        named = {g.name for g in generations if word in ("all", g.abi, g.name)}
        if word.endswith(".."):
            named = _this_and_later(word.removesuffix(".."), generations)
        if not named:
            raise TableError(f"{where}: unknown host generation {word}")
        hosts |= named
    return frozenset(hosts)


def _this_and_later(name, generations):
    places = {g.name: place for place, g in enumerate(generations)}
    if name not in places:
        return set()
    first = generations[places[name]]
    return {g.name for g in generations[places[name] :] if g.abi == first.abi}


def _parse_posted(where, text, parameters):
    by_name = {p.name: p for p in parameters}
    match = re.fullmatch(r"(\w+) (\w+) (\w+)(?: (each|mine))?(?: to (\w+))?", text)
    if not match or not {match[1], match[3], match[5] or match[1]} <= set(by_name):
        raise TableError(f"{where}: not a bytes rule: {text}")
    count = None if match[2] == "1" else match[2]
    if count and count not in by_name:
        raise TableError(f"{where}: {count} is not a parameter")
    is_array = count and by_name[count].dimensions
    return Posted(match[1], count, match[3], match[4] or ("array" if is_array else "whole"), match[5])
