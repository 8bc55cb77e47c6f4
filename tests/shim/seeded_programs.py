"""The programs that take a seed, and what each is asked to do: drawn from numbers that follow from the seed.

All are programs whose results are promised whatever the ranks, settings and seed: where the order of a sum counts,
ranks are told to keep it (MILLRACE_ORDER=rank) or no call is the host's (MILLRACE_COLLECTIVES=always).
"""

import collections.abc
import dataclasses

import hosts
import test_background
import test_exchanges
import test_nodes
import test_nonblocking_exchanges
import test_shared_collectives
import test_shared_matrix
from shim_programs import build

# These take tens of milliseconds for a call of their own when ranks outnumber cores.
SLOW = ("mpich4", "mpich5", "abi")
KEPT_ORDER = ({"MILLRACE_COLLECTIVES": "always"}, {"MILLRACE_ORDER": "rank"})
SPLITS = {2: ("1+1",), 3: ("1+2", "0,1,0"), 4: ("2+2", "0,1,0,1", "1+3"), 5: ("2+1+2", "0,1,0,1,0", "2+3")}
MOST_BYTES = 2 << 20


def says_done(text):
    return text == "done\n"


@dataclasses.dataclass(frozen=True)
class Asked:
    ranks: int
    words: list  # the program and its arguments
    alone: list | None  # those for the host alone; None where its end would say nothing
    settings: dict
    is_right: collections.abc.Callable = says_done
    hosts_own: str = ""  # how complaints begin that are known to be about the host's own calls (a regular expression)


@dataclasses.dataclass(frozen=True)
class Program:
    ask: collections.abc.Callable  # (random numbers, host, seed) -> Asked
    hosts: tuple = tuple(hosts.HOSTS)


def _ranks(draw):
    return draw.choice([2, 2, 3, 3, 4, 5])


def _fewer(host, ranks, many, few):
    return few if host in SLOW and ranks > 2 else many


def _settings(draw, host, ranks, *choices):
    """One of `choices`, and a way of waiting; ranks that only spin take long where they outnumber cores."""
    settings = {**draw.choice(choices)}
    if way := draw.choice([None, None, "yield", "sleep", "spin" if ranks == 2 else None]):
        settings["MILLRACE_WAIT"] = way
    if ranks > 3:  # Intel MPI alone brings wrong bytes there
        settings.update(test_shared_collectives.ENV.get(host, {}))
    return settings


def _pretended(draw, ranks, **more):
    return test_nodes.pretending(draw.choice(SPLITS[ranks]), **more)


def background(draw, host, seed):
    ranks = _ranks(draw)
    words = [test_background.program(host), seed, _fewer(host, ranks, 40, 8), draw.choice([12, 12, 60])]
    return Asked(ranks, words, words, _settings(draw, host, ranks, test_background.ALWAYS, {}))


def background_persistent(draw, host, seed):
    ranks = _ranks(draw)
    rounds = _fewer(host, ranks, 60, 15)
    words = [test_background.program(host), seed, rounds, 6, *test_background.PERSISTENT[host]]
    return Asked(ranks, words, words, _settings(draw, host, ranks, test_background.ALWAYS, {}))


def background_cases(draw, host, seed):
    """Has no seed: it says which case."""
    cases = [*test_background.CASES]
    if host in (*test_background.PERSISTENT, "mpich4", "intel"):
        cases.append("persistent")
    if host in ("mpich5", "abi"):
        cases.append("persistent_type")
    case, ranks = draw.choice(cases), draw.choice([2, 3])
    words = [test_background.cases_program(host), case]
    alone = None if case in ("truncated", "different") else words  # these break MPI's rules
    return Asked(ranks, words, alone, _settings(draw, host, ranks, test_background.ALWAYS))


def nonblocking_exchanges(draw, host, seed):
    ranks = _ranks(draw)
    which, mixed, starts = draw.choice([("all", "alike", 3), ("each", "alike", 20), ("all", "mixed", 3)])
    given = test_nonblocking_exchanges.ALIKE if mixed == "alike" else test_nonblocking_exchanges.SHARED
    batches = _fewer(host, ranks, 120, 30)
    words = [test_nonblocking_exchanges.program(host), seed, batches, which, 1 << 15, mixed, starts]
    packed = test_nonblocking_exchanges.ALWAYS  # around the host's own calls
    settings = _settings(draw, host, ranks, given, given, packed)
    # Intel MPI gets MPI_Allgather wrong where the two sides' types differ, and each call is compared with the host's.
    return Asked(ranks, words, words, settings, hosts_own="Allgather( in place)? on " if host == "intel" else "")


def _exchanges(host, seed, calls):
    """For Intel MPI without what it gets wrong: regular gathers, when the program is told how many bytes at most."""
    return [test_exchanges.program(host), seed, calls, *(["all", 1 << 17] if host == "intel" else [])]


def exchanges(draw, host, seed):
    ranks = _ranks(draw)
    words = _exchanges(host, seed, _fewer(host, ranks, 300, 100))
    return Asked(ranks, words, words, _settings(draw, host, ranks, test_exchanges.EVERYTHING))


def shared_collectives(draw, host, seed):
    ranks = _ranks(draw)
    words = [build(host, "shared_collectives.c"), seed, test_shared_collectives.calls_for(host, ranks)]
    tried = {"MILLRACE_MEASURE": "always", "MILLRACE_ORDER": "rank"}
    return Asked(ranks, [*words, "ours"], words, _settings(draw, host, ranks, *KEPT_ORDER, tried))


def _is_right_matrix(text):
    return text.startswith("done ")


def shared_matrix(draw, host, seed):
    """Of two ranks nothing hangs on the order: an Exscan may be the host's, which writes what lies between numbers."""
    ranks = _ranks(draw) if host not in SLOW else 2
    words = [test_shared_matrix.matrix(host), seed, 10**6, MOST_BYTES]
    settings = _settings(draw, host, ranks, *(KEPT_ORDER if ranks > 2 else KEPT_ORDER[:1]))
    settings.update({"MILLRACE_PMPI": "alike", **draw.choice(list(test_shared_matrix.FORCED.values()))})
    return Asked(ranks, [*words, "ours"], words, settings, _is_right_matrix)


def shared_stress(draw, host, seed):
    ranks = _ranks(draw)
    tried = {"MILLRACE_MEASURE": "always"}
    words = [build(host, "shared_stress.c"), seed, _fewer(host, ranks, 2000, 300), 200]
    return Asked(ranks, words, words, _settings(draw, host, ranks, {}, *KEPT_ORDER, tried))


def _no_rank_says_wrong(ranks):
    def is_right(text):
        return text.count(" 0 wrong,") == len(text.splitlines()) == ranks

    return is_right


def measured_calls(draw, host, seed):
    ranks = _ranks(draw)
    words = [build(host, "measured_calls.c"), seed, _fewer(host, ranks, 2000, 400)]
    settings = _settings(draw, host, ranks, {"MILLRACE_MEASURE": "always"})
    return Asked(ranks, words, words, settings, _no_rank_says_wrong(ranks))


def shared_threads(draw, host, seed):
    """Has no seed, but threads."""
    ranks = draw.choice([2, 3]) if host == "openmpi4" else 2
    words = [build(host, "shared_threads.c", "-pthread"), 2, draw.choice([100, 200, 300]), draw.choice([0, 2, 10])]
    settings = _settings(draw, host, ranks, {}, *KEPT_ORDER)
    return Asked(ranks, words, words, settings, lambda text: text in ("done\n", "no threads\n"))


def nodes_collectives(draw, host, seed):
    """Not with "ours": over nodes ranks agree later than this program would expect."""
    ranks = _ranks(draw)
    words = [build(host, "shared_collectives.c"), seed, _fewer(host, ranks, 400, 150)]
    return Asked(ranks, words, words, {**_settings(draw, host, ranks, {}), **_pretended(draw, ranks)})


def nodes_matrix(draw, host, seed):
    ranks = _ranks(draw) if host not in SLOW else 2
    words = [test_shared_matrix.matrix(host), seed, 10**6, MOST_BYTES]
    # MPICH 5 asserts in its own MPI_Reduce_scatter in place, so it gets none.
    collectives = "always" if host in SLOW or ranks == 2 else draw.choice(["always", "auto"])
    pretended = _pretended(draw, ranks, MILLRACE_ORDER="rank", MILLRACE_COLLECTIVES=collectives)
    settings = {**_settings(draw, host, ranks, {}), **pretended}
    return Asked(ranks, [*words, "ours"], words, settings, _is_right_matrix)


def nodes_exchanges(draw, host, seed):
    ranks = _ranks(draw)
    words = _exchanges(host, seed, _fewer(host, ranks, 300, 150))
    return Asked(ranks, words, words, {**_settings(draw, host, ranks, {}), **_pretended(draw, ranks)})


def nodes_measured_calls(draw, host, seed):
    ranks = _ranks(draw)
    words = [build(host, "measured_calls.c"), seed, _fewer(host, ranks, 3000, 800)]
    tried = _pretended(draw, ranks, MILLRACE_MEASURE="always", MILLRACE_COLLECTIVES="auto")
    settings = {**_settings(draw, host, ranks, {}), **tried}
    return Asked(ranks, words, words, settings, _no_rank_says_wrong(ranks))


PROGRAMS = {
    "background": Program(background),
    "background_persistent": Program(background_persistent, tuple(test_background.PERSISTENT)),
    "background_cases": Program(background_cases),
    "nonblocking_exchanges": Program(nonblocking_exchanges),
    "exchanges": Program(exchanges),
    "shared_collectives": Program(shared_collectives),
    "shared_matrix": Program(shared_matrix),
    "shared_stress": Program(shared_stress),
    "measured_calls": Program(measured_calls),
    "shared_threads": Program(shared_threads),
    "nodes_collectives": Program(nodes_collectives),
    "nodes_matrix": Program(nodes_matrix, tuple(test_nodes.RIGHT_ALONE)),
    "nodes_exchanges": Program(nodes_exchanges),
    "nodes_measured_calls": Program(nodes_measured_calls),
}
