"""Jain et al., SC18: shared-memory collectives inside a node."""

import os
import re
import statistics

import hosts
from data import Point, median_times
from figure import Comparison, Drawing, Figure, Paper, Published

TREES = Drawing("", "", kind="trees")
DRAWN = "Drawn from what `build_tree()` of src/collective returns; nothing is timed."


def places(sockets, cores):
    return [f"{socket}.{socket}" for socket in range(sockets) for _ in range(cores)]


def edges(runner, title, shape, where):
    """Points of one tree: the parent of each rank."""
    program = hosts.BUILD / "bench" / "tree_edges"
    for line in runner.run(title, 1, program, shape, *where, timed=False).splitlines():
        parent, child = map(int, line.split())
        yield Point("parent", child, parent, panel=title)


def trees(wanted):
    """wanted: title -> (tree as MILLRACE_TREE has it, places)"""
    return lambda runner: [point for title, one in wanted.items() for point in edges(runner, title, *one)]


def children(found, parent, panel):
    return [point.x for point in found.points if point.panel == panel and point.value == parent]


def served(parent, panel):
    return lambda found: f"rank {parent} serves {', '.join(map(str, children(found, parent, panel)))}"


def outermost(end, panel):
    """The leaf that one comes to by always taking the first (0) or the last (-1) child."""

    def leaf(found):
        rank = 0
        while own := children(found, rank, panel):
            rank = own[end]
        return f"rank {rank} is the {'left' if end == 0 else 'right'}most leaf"

    return leaf


PLACES = ("openmpi4", "openmpi5", "mpich4", "mpich5", "intel")
MEASURED = ("The hosts' own calls (PMPI_) and Millrace's beside them in one process, in turns, on two ranks with a "
            "core "
            "each; medians of five turns.")  # fmt: skip


def two_ranks(runner):
    options = ("--hosts", ",".join(PLACES), "--kinds", "Bra", "--turns", 5, "--largest", 4 << 20)
    samples = {}
    for row in runner.bench("collectives", 75, *options):
        for side in ("ours", "host"):
            if row["side"] == side:
                name = hosts.get(row["host"]).title if side == "host" else f"Millrace ({row['host']})"
                samples.setdefault((row["collective"], name, int(row["bytes"])), []).append(float(row["us"]))
    for (collective, name, size), values in samples.items():
        # Ours is the same code under each host: one line is enough.
        if not name.startswith("Millrace") or name == "Millrace (openmpi4)":
            yield Point(name.split(" (openmpi4")[0], size, statistics.median(values), panel=collective)


def best_host(found):
    """Of each panel: the fastest host by size, over ours."""
    for panel in found.panels():
        names = [name for name in found.series(panel) if name != "Millrace"]
        least = {}
        for name in names:
            for x, value in found.line(name, panel).items():
                least[x] = min(value, least.get(x, value))
        yield panel, {x: least[x] / value for x, value in found.line("Millrace", panel).items()}


def over_best_host(found):
    return "; ".join(f"{name}: {median_times(ratios)}" for name, ratios in best_host(found))


SOCKETS = "pack:2 core:20"
MODEL = (
    f"By `millrace simulate --topology '{SOCKETS}'` with the costs that it assumes, one call and the mean of 20 in a "
    "row; simulated, not measured. Our code runs, on a clock that is not real: [the model](../model.md)."
)
MODEL_ONE = MODEL.replace("one call and the mean of 20 in a row", "one call")
MODEL_NODES = (
    f"By `millrace simulate --nodes 32 --topology '{SOCKETS}'` with the costs that it assumes, the mean of 4 calls in "
    "a row; between the leaders of the nodes the fastest of the usual algorithms for all alike, a message at 1.5 us, "
    "large ones at 12 GB/s; simulated, not measured ([the model](../model.md))."
)
NO_NODE = "a node of 40 cores: the model of one, with the costs that it assumes."
NO_NODES = (
    "32 such nodes: the model of one of them, and of the wire between. What is measured over nodes, on namespaces of "
    "one machine, is in [collectives](../collectives.md)."
)
TREE_BYTES = (8, 32, 128, 512, 1024, 2048, 4096)  # what cells hold; the paper's trees go on from there


def simulated_ns(runner, call, size, tree="", algorithm="", calls=1, other="", nodes=1, flags=()):
    """tree: as MILLRACE_TREE has it; other: what others do"""
    clean = {name: "" for name in os.environ if name.startswith("MILLRACE_")}
    words = ["--topology", SOCKETS, "--brief", "--calls", calls, *(["--algorithm", algorithm] if algorithm else []),
             *(["--other", other] if other else []), *(["--nodes", nodes] if nodes > 1 else []), *flags]  # fmt: skip
    said = runner.run(f"{call}, {tree or 'our choice'}", 0, hosts.BUILD / "millrace", "simulate", *words, call, size,
                      env={**clean, **({"MILLRACE_TREE": tree} if tree else {})}, timed=False)  # fmt: skip
    return float(re.search(r"cores: ([\d.]+) ns", said).group(1))


CALLS = {"one call": 1, "20 calls in a row": 20}


def by_trees(call, shapes):
    """shapes: series -> tree"""

    def measure(runner):
        for panel, calls in CALLS.items():
            for name, tree in shapes.items():
                for size in TREE_BYTES:
                    yield Point(name, size, simulated_ns(runner, call, size, tree, "tree", calls), panel=panel)

    return measure


OUR_CHOICE, THEIR_DESIGN = "Millrace, as its table chooses", "the paper's design"
FORTY_BYTES = (8, 64, 512, 4096, 32 << 10, 256 << 10, 2 << 20, 16 << 20)
OTHERS = {THEIR_DESIGN: "sc18", "messages, binomial tree": "binomial", "messages, recursive doubling": "doubling",
          "messages, ring": "ring"}  # fmt: skip


def forty_ranks(runner):
    """Of the algorithms of messages those that a call has."""
    for call in ("bcast", "reduce", "allreduce"):
        sides = {OUR_CHOICE: "", **OTHERS}
        if call != "allreduce":
            del sides["messages, recursive doubling"]
        for name, other in sides.items():
            for size in FORTY_BYTES:
                if other != "ring" or size > 256:  # each has a part of the message
                    yield Point(name, size, simulated_ns(runner, call, size, other=other), panel=call)


MESSAGES = "messages, binomial tree"


def over_nodes(call):
    def measure(runner):
        for name, other in ((OUR_CHOICE, ""), (THEIR_DESIGN, "sc18"), (MESSAGES, "binomial")):
            for size in FORTY_BYTES:
                yield Point(name, size, simulated_ns(runner, call, size, calls=4, other=other, nodes=32))

    return measure


INTO_PLACE, ONE_MORE_COPY = "into the receive buffer", "into a cell, and from there"


def with_a_copy(runner):
    for name, flags in ((INTO_PLACE, ()), (ONE_MORE_COPY, ("--copy-at-root",))):
        for size in FORTY_BYTES:
            yield Point(name, size, simulated_ns(runner, "reduce", size, calls=4, other="sc18", flags=flags))


def least_to_most(above, below):
    def words(found):
        ratios = found.ratios(above, below)
        largest = ratios[max(ratios)]
        return f"{min(ratios.values()):.2f} to {max(ratios.values()):.2f} times slower, {largest:.2f} at the largest"

    return words


def fastest_message(found):
    words = []
    for panel in found.panels():
        least = {}
        for name in found.series(panel):
            if name.startswith("messages"):
                for x, value in found.line(name, panel).items():
                    least[x] = min(value, least.get(x, value))
        theirs = found.line(THEIR_DESIGN, panel)
        words.append(f"{panel}: {median_times({x: least[x] / theirs[x] for x in theirs})}")
    return "; ".join(words)


def each_panel(above, below, only=None):
    def words(found):
        each = ((panel, found.ratios(above, below, panel, only)) for panel in found.panels())
        return "; ".join(f"{panel}: {median_times(ratios)}" for panel, ratios in each)

    return words


UNAWARE, AWARE = "unaware: knomial:8", "aware: kary:3, leaders last, right skewed"
TREES_OF_11 = {UNAWARE: "knomial:8", AWARE: "kary:3,socket,leaders-last,small-first",
               "aware: kary:2, leaders last, right skewed": "kary:2,socket,leaders-last,small-first"}  # fmt: skip
KS = {f"knomial:{k}": f"knomial:{k}" for k in (2, 3, 4, 8)}
ORDERS = {"leaders last, right skewed": "kary:3,socket,leaders-last,small-first",
          "leaders first, right skewed": "kary:3,socket,small-first",
          "leaders last, left skewed": "kary:3,socket,leaders-last",
          "leaders first, left skewed": "kary:3,socket"}  # fmt: skip
BEST_ORDER = "leaders last, right skewed"


def small(x):
    return x < 512


def large(x):
    return x >= 512


def crossover(found):
    words = []
    for panel in found.panels():
        ratios = found.ratios(UNAWARE, AWARE, panel)
        first = next((x for x in sorted(ratios) if ratios[x] > 1), None)
        words.append(f"{panel}: aware ones faster from {first} B on" if first else f"{panel}: unaware ones are faster")
    return "; ".join(words)


def ablations(*names):
    def measure(runner):
        options = ("--turns", 3, "--rounds", 2, *names)
        for row in runner.bench("collectives", 15 * len(names), *options, script="ablation.py"):
            if row["call"] != "barrier":
                yield Point(row["call"], int(row["bytes"]), float(row["ratio"]), panel=VARIANTS[row["variant"]])

    return measure


VARIANTS = {"pipelining": "one chunk for the whole message", "chunks": "chunks of 4 KiB, not 32",
            "run-ahead": "two buffers for small messages, not 64",
            "inlining": "no message in the line of its flag"}  # fmt: skip
TIMES_SLOWER = Drawing("bytes", "times as long", log_y=False)


def spread(variant):
    def words(found):
        panel = VARIANTS[variant]
        lines = {name: found.line(name, panel).values() for name in found.series(panel)}
        return ", ".join(f"{name} {min(own):.2f} to {max(own):.2f} times" for name, own in lines.items())

    return words


ABLATED = ("Two ranks, `src/collective` without an MPI (bench/collectives/ablation.py): with and without in turns, "
           "medians "
           "of three turns. Above 1: the optimisation pays.")  # fmt: skip
FIRST, LAST = "leaders first: kary:2,socket", "leaders last: kary:2,socket,leaders-last"
LEFT, RIGHT = "left skewed: kary:2", "right skewed: kary:2,small-first"

PAPER = Paper(
    "sc18",
    "shared-memory collectives",
    "Surabhi Jain, Rashid Kaleem, Marc Gamell Balmana, Akhil Langer, Dmitry Durnov, Alexander Sannikov, Maria "
    "Garzaran: Framework for Scalable Intra-Node Collective Operations using Shared Memory, SC18.",
    (
        Figure(
            "6", "the tree of one socket", "a socket of four cores, K-ary with K = 3; drawn, not measured.",
            (
                Comparison(
                    Published("children of the leader", "3, the other cores", "figures 5 and 6, their captions"),
                    served(0, "one socket: kary:3"), "the same tree",
                ),
            ),
            1, trees({"one socket: kary:3": ("kary:3", places(1, 4))}), TREES, conditions=DRAWN,
        ),
        Figure(
            "7", "trees of leaders and trees of sockets joined",
            "five sockets of four cores, leaders as a K-ary tree with K = 2; drawn, not measured.",
            (
                Comparison(
                    Published("leaders first: rank 0 serves", "4 and 8, then its own socket", "section III.A.2"),
                    served(0, FIRST),
                    "one K for both trees here, where the paper leaves that of the sockets open",
                ),
                Comparison(
                    Published("leaders last: rank 0 serves", "its own socket, then 4 and 8", "section III.A.2"),
                    served(0, LAST), "the same",
                ),
            ),
            1, trees({FIRST: ("kary:2,socket", places(5, 4)), LAST: ("kary:2,socket,leaders-last", places(5, 4))}),
            TREES, conditions=DRAWN,
        ),
        Figure(
            "8", "skewed trees", "K-ary with K = 2, eight ranks; drawn, not measured.",
            (
                Comparison(Published("left skewed", "rank 7 is the leftmost leaf", "section III.A.3"),
                           outermost(0, LEFT), "the same tree"),
                Comparison(Published("right skewed", "rank 7 is the rightmost leaf", "section III.A.3"),
                           outermost(-1, RIGHT), "children are put into another order, ranks stay where they are"),
            ),
            1, trees({LEFT: ("kary:2", places(1, 8)), RIGHT: ("kary:2,small-first", places(1, 8))}), TREES,
            conditions=DRAWN,
        ),
        Figure(
            "10", "Bcast, Reduce and Allreduce on one node",
            "their design (RG), MVAPICH, Open MPI 3, MPICH with ch3 and ch4; 40 ranks on two sockets of Skylake.",
            (
                Comparison(Published("the fastest of the others over theirs", "1 times and more, but for Reduce below "
                                     "128 B, where MVAPICH is 10 % faster", "section VI"),
                           over_best_host,
                           "two ranks; hosts of today, some of which have such a design. Millrace is the one under "
                           "Open MPI 4; each host has a process of its own, and the machine is not the same for all"),
            ),
            75, two_ranks, Drawing("bytes", "us"), PLACES, MEASURED,
            "two ranks, one on each core, as the machine has two; figure 10 at 40 ranks is the model's.",
        ),
        Figure(
            "10 at 40 ranks", "the same on 40 cores",
            "as figure 10: a flat tree for Bcast, K-nomial with K = 4 for Reduce below 512 B, K-ary above.",
            (
                Comparison(Published("the others over theirs", "1 times and more", "section VI"),
                           fastest_message,
                           "the fastest of three algorithms made of messages, in place of libraries of 2018"),
                Comparison(Published("their design over Millrace's choice", "not in the paper", "-"),
                           each_panel(THEIR_DESIGN, OUR_CHOICE),
                           "below 1, theirs is faster: the table keeps rank order in reductions, so of small messages "
                           "the root reads all cells"),
            ),
            10, forty_ranks, Drawing("bytes", "ns"), (), MODEL_ONE, NO_NODE,
        ),
        Figure(
            "11", "trees that know the sockets and trees that do not, Reduce",
            "K-nomial (8, then 2) against K-ary (3, then 2) by socket, leaders last, right skewed; 40 ranks.",
            (
                Comparison(Published("unaware over aware, large messages", "up to 1.8 times", "section VI.B"),
                           each_panel(UNAWARE, AWARE, large),
                           "up to 4 KiB, which is where trees end here: larger messages are shared out among all "
                           "ranks"),
                Comparison(Published("crossover", "unaware ones slightly faster below 512 B", "section VI.B"),
                           crossover,
                           "in the model the way across sockets is so much dearer that small calls gain, too"),
            ),
            2, by_trees("reduce", TREES_OF_11), Drawing("bytes", "ns", reference=UNAWARE), (), MODEL, NO_NODE,
        ),
        Figure(
            "12", "Bcast on 32 nodes with 40 ranks each", "theirs within nodes, and MPICH with ch3 and ch4.",
            (
                Comparison(Published("without theirs", "1.16 to 2.18 times slower, growing with the message",
                                     "sections VI.C and VIII"), least_to_most(MESSAGES, THEIR_DESIGN),
                           "messages of more than 4 KiB are one copy by the kernel here; through shared memory, as "
                           "MPICH most likely sent them then, they take two"),
                Comparison(Published("without Millrace", "not in the paper", "-"),
                           least_to_most(MESSAGES, OUR_CHOICE),
                           "in pieces of 256 KiB, of which each takes the latencies of a call between nodes"),
            ),
            10, over_nodes("bcast"), Drawing("bytes", "ns", reference=MESSAGES), (), MODEL_NODES, NO_NODES,
        ),
        Figure(
            "13", "Allreduce on 32 nodes with 40 ranks each", "theirs within nodes, and MPICH with ch3 and ch4.",
            (
                Comparison(Published("without theirs", "1.30 to 2.34 times slower, growing with the message",
                                     "section VI.C"), least_to_most(MESSAGES, THEIR_DESIGN),
                           "as figure 12; what the wire takes is assumed, and is in both"),
                Comparison(Published("without Millrace", "not in the paper", "-"),
                           least_to_most(MESSAGES, OUR_CHOICE),
                           "reductions keep the order of ranks within a node, which costs most at 512 bytes; of large "
                           "ones each rank leads a part"),
            ),
            15, over_nodes("allreduce"), Drawing("bytes", "ns", reference=MESSAGES), (), MODEL_NODES, NO_NODES,
        ),
        Figure(
            "K", "how many children, Reduce, trees that do not know the sockets",
            "K-nomial trees, 40 ranks, below 512 B.",
            (
                Comparison(Published("K = 8 over K = 4", "the same", "section VI.B"),
                           each_panel("knomial:8", "knomial:4", small), "see figure 11: the model makes many children "
                                                                    "dear"),
                Comparison(Published("K = 2 over K = 4", "up to 1.15 times slower", "section VI.B"),
                           each_panel("knomial:2", "knomial:4", small), "of one call alike"),
                Comparison(Published("K = 3 over K = 4", "up to 1.2 times slower", "section VI.B"),
                           each_panel("knomial:3", "knomial:4", small), "not so in the model, and not explained"),
            ),
            2, by_trees("reduce", KS), Drawing("bytes", "ns", reference="knomial:4"), (), MODEL, NO_NODE,
        ),
        Figure(
            "order", "leaders first or last, left or right skewed, Reduce",
            "K-ary trees by socket, 40 ranks, below 64 KiB.",
            (
                Comparison(Published("leaders first over last", "1.1 to 1.25 times slower", "section VI.B"),
                           each_panel("leaders first, right skewed", BEST_ORDER),
                           "with two sockets there is one other leader; calls in a row hide who waits for whom"),
                Comparison(Published("left over right skewed", "1.1 to 1.25 times slower", "section VI.B"),
                           each_panel("leaders last, left skewed", BEST_ORDER), "as above"),
            ),
            2, by_trees("reduce", ORDERS), Drawing("bytes", "ns", reference=BEST_ORDER), (), MODEL, NO_NODE,
        ),
        Figure(
            "buffers", "several buffers and pipelining",
            "32 KiB a rank as one, two, four or eight buffers; 40 ranks.",
            (
                Comparison(Published("one buffer, large messages", "up to 2.3 times slower", "section VI.B"),
                           spread("pipelining"),
                           "one chunk, as large as the message: it still is in the cache of the machine, which has "
                           "more "
                           "of it than theirs"),
                Comparison(Published("eight buffers of 4 KiB, large messages", "up to 1.25 times slower, Bcast 1.35",
                                     "section VI.A and B"), spread("chunks"), "chunks of 4 KiB, eight of them"),
                Comparison(Published("one buffer, small messages", "Bcast up to 1.9 times slower, Reduce 1.2",
                                     "section VI.A and B"),
                           spread("run-ahead"), "two buffers: one is not among what the segment may have. Above 64 "
                                                "bytes two are the faster ones: a ring "
                           "of 64 cells of 4 KiB goes through the caches"),
            ),
            45, ablations("pipelining", "chunks", "run-ahead"), TIMES_SLOWER, (), ABLATED,
            "two ranks, which is all that have a core here.",
        ),
        Figure(
            "inlining", "small messages in the line of their flag", "messages of less than 60 bytes, 40 ranks.",
            (
                Comparison(Published("what it gains", "little; nothing for Bcast, as it needs a single buffer",
                                     "section VI.A and B"),
                           spread("inlining"),
                           "ours has a line for each call of the ring, so the two go together"),
            ),
            15, ablations("inlining"), TIMES_SLOWER, (), ABLATED, "two ranks, which is all that have a core here.",
        ),
        Figure(
            "parent", "children read the flag of their parent", "one store in place of one for each child.",
            (Comparison(Published("Bcast", "beneficial", "section VI.A"), lambda _: "", "no other way is built"),
             Comparison(Published("Reduce", "small benefit", "section VI.B"), lambda _: "", "no other way is built")),
            instead="all flags here are read from who wrote them; writing one for each child would be another "
                    "protocol.",
        ),
        Figure(
            "copy", "the root reduces into the receive buffer", "against one more copy at the root.",
            (Comparison(Published("Reduce without it", "up to 1.08 times slower", "section VI.B"),
                        least_to_most(ONE_MORE_COPY, INTO_PLACE),
                        "their design in the model; every root of ours reduces into the receive buffer"),),
            10, with_a_copy, Drawing("bytes", "ns", reference=INTO_PLACE), (),
            MODEL_ONE.replace("one call", "the mean of 4 calls in a row"), NO_NODE,
        ),
    ),
)  # fmt: skip
