"""Jain et al., SC18: shared-memory collectives inside a node."""

import hosts
from data import Point
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
    ),
)  # fmt: skip
