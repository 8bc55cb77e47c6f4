"""What a figure of a paper is here: what the paper says of it, how it is measured, how it is drawn."""

import collections.abc
import dataclasses


@dataclasses.dataclass(frozen=True)
class Published:
    """A number of the paper, and where in its text it stands: pictures did not survive, texts and captions did."""

    what: str
    value: str
    source: str


@dataclasses.dataclass(frozen=True)
class Comparison:
    """A line of the page: what was published, the same from our data, and why the two differ."""

    published: Published
    here: collections.abc.Callable  # of the figure's Data: a text
    why: str


@dataclasses.dataclass(frozen=True)
class Drawing:
    x: str
    y: str
    kind: str = "lines"  # or bars: x is a word; or trees: an edge from `value` (the parent) to x
    log_x: bool = True
    log_y: bool = True
    reference: str = ""  # tables show how many times the value of this series is each value of the others


@dataclasses.dataclass(frozen=True)
class Figure:
    number: str  # as in the paper: 6
    title: str
    published_on: str  # what the paper measured, on what
    comparisons: tuple = ()
    seconds: int = 0  # about what measuring takes on two cores
    measure: collections.abc.Callable | None = None  # of a runner.Runner: Points; None: cannot be had here
    drawing: Drawing | None = None
    hosts: tuple = ()  # whose versions the page names
    conditions: str = ""  # how it was measured here
    instead: str = ""  # why it cannot be had, and what was done instead


@dataclasses.dataclass(frozen=True)
class Paper:
    name: str  # as on the command line
    title: str
    source: str
    figures: tuple
