"""Weeks et al.: MPI_Reduce of many floats by ops of a user, on the Xeon Phi."""

from data import Point
from figure import Comparison, Drawing, Figure, Paper, Published

SIDES = {"0": "Open MPI", "1": "Millrace, one thread", "2": "Millrace, two threads"}
NAMES = {"predefined": "MPI_SUM", "vectorised": "vectorised op", "taskloop": "op of tasks"}
SUM, VECTORISED, TASKS = NAMES.values()


def ops(runner):
    """2^30 floats are 4 GiB, and the root has two of them and what the host receives into: three turns do."""
    for log2, turns, seconds in ((28, 3, 80), (30, 1, 85)):
        options = ("--hosts", "openmpi4", "--parts", "ops", "--log2", log2, "--turns", turns)
        for row in runner.bench("threads", seconds, *options, what=f"2^{log2} floats"):
            times = (float(row[key]) / 1e9 for key in ("median_ns", "low_ns", "high_ns")[: 3 if turns > 1 else 1])
            yield Point(SIDES[row["threads"]], NAMES[row["op"]], *times, panel=f"2^{log2} floats")


def quotient(above, below, side="Open MPI", other=None, panel="2^30 floats"):
    def words(found):
        over, under = found.line(side, panel)[above], found.line(other or side, panel)[below]
        return f"{over / under:.2f} times"

    return words


def of_both(above, below, side="Open MPI", other=None):
    def words(found):
        each = (f"{quotient(above, below, side, other, panel)(found)} ({panel})" for panel in found.panels())
        return "; ".join(each)

    return words


def overlap(runner):
    rows = runner.bench("threads", 20, "--hosts", "openmpi4", "--parts", "overlap", "--turns", 9)
    for key, what in (("reduction_ms", "reduction"), ("tasks_ms", "tasks"), ("both_ms", "both at a time")):
        yield Point("64 MiB and 64 tasks", what, float(rows[0][key]))


def gained(found):
    own = found.line("64 MiB and 64 tasks")
    reduction, tasks, both = own["reduction"], own["tasks"], own["both at a time"]
    return f"{100 * (reduction + tasks - both) / min(reduction, tasks):.0f} % of the shorter of the two"


PAPER = Paper(
    "xeon-phi",
    "user's reductions on the Xeon Phi",
    "Nathan T. Weeks, Meiyue Shao, Brandon Cook, Marcus Wagner, Glenn R. Luecke, Pieter Maris, James P. Vary: "
    "Accelerating MPI Reductions on Intel Xeon Phi, poster, doi:10.5281/zenodo.827377.",
    (
        Figure(
            "1", "MPI_Reduce of 2^30 floats: MPI_SUM, a vectorised op, one of tasks",
            "one rank a node of Xeon Phi 7250, Cray MPICH, 64 threads for the op of tasks; means of ten calls.",
            (
                Comparison(Published("MPI_SUM over the vectorised op", "about 1.8 times", "its results"),
                           of_both(SUM, VECTORISED),
                           "the host's own op has vectors by now, and most of the time is the copy between two ranks"),
                Comparison(Published("the vectorised op over the one of tasks", "about 2 times", "its results"),
                           of_both(VECTORISED, TASKS),
                           "two ranks with two threads each on two cores: tasks find no core that is free"),
                Comparison(Published("MPI_SUM over that of Millrace, nothing changed in the program",
                                     "not in the paper", "-"),
                           of_both(SUM, SUM, "Open MPI", "Millrace, one thread"),
                           "reduced where the data lie, without a message"),
                Comparison(Published("the op of tasks, Open MPI alone over under Millrace", "not in the paper", "-"),
                           of_both(TASKS, TASKS, "Open MPI", "Millrace, one thread"),
                           "a loss. Open MPI calls the op once with all, Millrace with pieces of tens of KiB, as "
                           "they go from rank to rank; how much of it is making tasks, how much four threads on two "
                           "cores, was not told apart"),
            ),
            170, ops, Drawing("op", "s", "bars", log_y=False), ("openmpi4",),
            "Two ranks on two cores, GCC's vectors and tasks (bench/threads/user_ops.c), every 1013th element checked; "
            "medians of three calls, of 2^30 floats one call; of each the slowest rank, after one call that does not "
            "count.",
        ),
        Figure(
            "2", "a reduction whose op makes tasks, beside other tasks",
            "a program in outline; nothing is measured.",
            (
                Comparison(Published("tasks of the reduction come first, others fill the rest", "an idea", "figure 2"),
                           gained, "examples/overlap is such a program; what it gains depends on cores that are free"),
            ),
            20, overlap, Drawing("", "ms", "bars", log_y=False), ("openmpi4",),
            "examples/overlap: 64 MiB and 64 tasks, two ranks of two threads on two cores, the three in turns, medians "
            "of nine.",
        ),
    ),
)  # fmt: skip
