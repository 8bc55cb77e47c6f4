"""Zhong et al., 2022: long vectors for MPI reductions. Open MPI 4 has their component, and can leave it out."""

import statistics

from data import Point, median_times
from figure import Comparison, Drawing, Figure, Paper, Published

BYTES = [1024 << i for i in range(18)]
TIMES = Drawing("bytes", "ns", reference="Open MPI, no vectors")
BARE, AVX2, WIDE = "Open MPI, no vectors", "Open MPI, AVX2", "Open MPI, AVX-512"
# Bits of op_avx_support: SSE to SSE4.1, AVX and AVX2; with AVX512F and AVX512BW it is all.
LEVELS = {BARE: "OMPI_MCA_op=^avx", AVX2: "OMPI_MCA_op_avx_support=0x3f", WIDE: ""}
OURS = {BARE: "scalar", AVX2: "avx2", WIDE: "avx512"}  # MILLRACE_ISA in that run, and so in its MPI_Reduce_local
COLD = ("MPI_Reduce_local on one rank, lines of all buffers flushed before each turn; medians of five turns, all of "
        "one "
        "level in turns in one process. memcpy moves as many bytes as there are in one buffer.")  # fmt: skip


def reductions(kernel, levels):
    """Times by level of vectors: the host's, ours with the unit of the same name, and memcpy from the last of them."""

    def measure(runner):
        sizes = ",".join(map(str, BYTES))
        for level in levels:
            unit = OURS[level]
            options = ["--hosts", "openmpi4", "--turns", 5, "--points", f"{kernel}:cold:{sizes}"]
            for variable in (LEVELS[level], f"MILLRACE_ISA={unit}"):
                options += ["--env", variable] if variable else []
            rows = runner.bench("reductions", 12, *options, what=f"{kernel}, {level}")
            for row in rows:
                yield Point(level, int(row["bytes"]), float(row["host_ns"]))
            if level != BARE:
                for row in rows:
                    yield Point(f"Millrace, {unit}", int(row["bytes"]), float(row["ours_ns"]))
            if level == levels[-1]:
                for row in rows:
                    yield Point("memcpy", int(row["bytes"]), float(row["memcpy_ns"]))

    return measure


def from_8k(x):
    return x >= 8192


def least_to_most(above, below, only=None):
    return lambda found: median_times(found.ratios(above, below, only=only))


def against_memcpy(ours, host):
    def words(found):
        large = {name: found.ratios("memcpy", name, only=lambda x: x >= 1 << 20) for name in (ours, host)}
        return "; ".join(f"{name} at {statistics.median(ratios.values()):.2f} times memcpy's rate (median from 1 MiB)"
                         for name, ratios in large.items())  # fmt: skip

    return words


def over_plain(host, ours, published, why):
    return (
        Comparison(published, least_to_most(BARE, host, from_8k), why),
        Comparison(Published("the same, by Millrace", "not in the paper", "-"), least_to_most(BARE, ours, from_8k),
                   "the host's instructions but for half of its branches (figure 10); why that is faster beyond 64 "
                   "KiB of "
                   "AVX-512 was not found out"),
    )  # fmt: skip


SEVEN = Published("AVX-512 over the element-wise loop, large buffers", "7 times", "section 4.1")
PLAIN_HERE = ("Debian's Open MPI has a loop that GCC left element by element, as theirs; a processor of 2022 runs "
              "it, and "
              "what remains after it is the memory's part")  # fmt: skip
COUNTED = {"instructions": "instructions", "loads": "loads", "stores": "stores", "branches": "branches"}
SIDES = {"plain": BARE, "host": WIDE, "scalar": "Millrace, scalar", "sse42": "Millrace, sse42",
         "avx2": "Millrace, avx2", "avx512": "Millrace, avx512"}  # fmt: skip
STEPPED = ("MPI_Reduce_local of 63 KiB of uint8, counted by stepping through the call one instruction at a time: a "
           "call "
           "with 64 KiB less a call with 1 KiB.")  # fmt: skip


def counts(columns):
    def measure(runner):
        for row in runner.bench("x86_instructions", 60, timed=False):
            numbers = {**row, "not taken": int(row["branches"]) - int(row["taken"])}
            for column in columns:
                yield Point(SIDES[row["side"]], column, int(numbers[column]))

    return measure


def fewer(what, side=WIDE):
    return lambda found: f"{found.line(BARE)[what] / found.line(side)[what]:.0f} times"


def lammps(runner):
    rows = runner.bench("lammps", 75, "--turns", 4)
    for row in rows:
        name = "Millrace" if row["side"] == "Millrace" else "Open MPI"
        times = (float(row[key]) for key in ("loop_s", "low_s", "high_s"))
        yield Point(name, row["level"], *times, panel="loop, s")
    for what, key, factor in (("% of the time", "mpi_share", 100), ("bytes of a call", "allreduce_bytes", 1)):
        yield Point("Millrace", what, factor * float(rows[0][key]), panel=REPORTED)


REPORTED = "inside MPI, and of an MPI_Allreduce"


def gained(level, name="Open MPI"):
    """Of the run without vectors, in the words of the paper: how much less time."""

    def words(found):
        base, own = (found.line(side, "loop, s")[x] for side, x in (("Open MPI", "no vectors"), (name, level)))
        return f"{100 * (base / own - 1):+.1f} %"

    return words


def training(runner):
    rows = runner.bench("training", 80, "--turns", 3, "--steps", 3)
    for side, called in (("host, no vectors", BARE), ("host", WIDE), ("Millrace", "Millrace")):
        own = [row for row in rows if row["side"] == side]
        for what, column in (("a step", "step_s"), ("in Allreduce", "allreduce_s")):
            values = sorted(float(row[column]) for row in own)
            yield Point(called, what, statistics.median(values), values[0], values[-1])


def faster(what, above, below):
    return lambda found: f"{100 * (found.line(above)[what] / found.line(below)[what] - 1):+.1f} %"


PAPER = Paper(
    "long-vectors",
    "long vectors for MPI reductions",
    "Dong Zhong, Qinglei Cao, George Bosilca, Jack Dongarra: Using long vector extensions for MPI reductions, Parallel "
    "Computing 109 (2022) 102871.",
    (
        Figure(
            "6", "MPI_SUM of uint8 from 1 KB to 128 MB",
            "the element-wise loop of Open MPI, AVX-512, and memcpy, on a Xeon Gold 6254, caches flushed.",
            (
                *over_plain(WIDE, "Millrace, avx512", SEVEN, PLAIN_HERE),
                Comparison(Published("AVX-512 against memcpy, large buffers", "similar", "section 4.1"),
                           against_memcpy("Millrace, avx512", WIDE),
                           "memcpy writes into memory that it must read first; a reduction reads what it writes "
                           "anyway"),
            ),
            40, reductions("sum_u8", (BARE, AVX2, WIDE)), TIMES, ("openmpi4",), COLD,
        ),
        Figure(
            "7", "MPI_BAND of uint8 from 1 KB to 128 MB",
            "the element-wise loop of Open MPI, AVX-512, and memcpy, on a Xeon Gold 6254, caches flushed.",
            (
                *over_plain(WIDE, "Millrace, avx512", SEVEN, PLAIN_HERE),
                Comparison(Published("AVX-512 against memcpy, large buffers", "similar", "section 4.1"),
                           against_memcpy("Millrace, avx512", WIDE), "as of figure 6"),
            ),
            40, reductions("band_u8", (BARE, AVX2, WIDE)), TIMES, ("openmpi4",), COLD,
        ),
        Figure(
            "8", "with AVX2 at most, from 1 KB to 128 MB",
            "the element-wise loop, AVX2, and memcpy, on an EPYC 7302 (Zen 2); BAND by its caption, SUM by the text.",
            (
                *over_plain(AVX2, "Millrace, avx2",
                            Published("AVX2 over the element-wise loop, all sizes", "about 5 times", "section 4.2"),
                            "a newer core, whose caches and memory are faster, with the same vectors"),
                Comparison(Published("AVX2 against memcpy", "almost the same rate", "section 4.2"),
                           against_memcpy("Millrace, avx2", AVX2), "as of figure 6"),
            ),
            25, reductions("sum_u8", (BARE, AVX2)), TIMES, ("openmpi4",), COLD,
            instead="the processor at hand, which has AVX-512, told to use AVX2: op_avx_support for the host, "
                    "MILLRACE_ISA for Millrace. SUM, as the text has it.",
        ),
        Figure("9", "MPI_SUM of uint8 on an A64FX", "SVE of 512 bits, the element-wise loop, and memcpy.",
               (Comparison(Published("SVE over the element-wise loop", "5 times", "section 4.3"), lambda _: "",
                           "needs the processor"),),
               instead="no A64FX is at hand. What SVE saves is counted under qemu: figures 6 and 10 of "
                       "[the paper on SVE](sve.md)."),
        Figure(
            "10", "MPI_SUM: instructions, loads, stores, branches",
            "counters of the processor, by PAPI, with AVX-512 and without.",
            (
                Comparison(Published("loads, fewer", "90 times", "section 5"), fewer("loads"),
                           "64 elements a load make 64 times; the plain loop here reads a third time, for its length "
                           "or "
                           "its pointers"),
                Comparison(Published("stores, fewer", "60 times", "section 5"), fewer("stores"), "64 elements a store"),
                Comparison(Published("branches, fewer", "60 times", "section 5"), fewer("branches"),
                           "a turn of a vector in the host's loop"),
                Comparison(Published("branches, fewer, by Millrace", "not in the paper", "-"),
                           fewer("branches", "Millrace, avx512"), "two vectors a turn"),
                Comparison(Published("instructions, fewer", "largely", "section 5"), fewer("instructions"),
                           "counted exactly here"),
            ),
            60, counts(COUNTED), Drawing("event", "count", "bars", reference=BARE), ("openmpi4",), STEPPED,
            "there are no counters on the machine: every instruction of the call is stepped through and decoded.",
        ),
        Figure(
            "11", "MPI_SUM: branches, taken and not",
            "counters of the processor, by PAPI: taken, not taken, mispredicted, with AVX-512 and without.",
            (
                Comparison(Published("branches, fewer", "60 times", "section 5"), fewer("branches"), "as of figure 10"),
                Comparison(Published("mispredicted", "less opportunity", "section 5"),
                           lambda found: f"{found.line(BARE)['branches']:.0f} branches without vectors, "
                                         f"{found.line('Millrace, avx512')['branches']:.0f} of Millrace",
                           "what a processor mispredicts only its counters tell"),
            ),
            60, counts(("branches", "taken", "not taken")), Drawing("event", "count", "bars", log_y=False),
            ("openmpi4",), STEPPED, "stepped through, as figure 10; mispredictions cannot be had.",
        ),
        Figure(
            "12", "LAMMPS, granular chute flow, by vectors",
            "loop time of 24 ranks, 100 steps, 259 200 000 atoms, on a Xeon Gold 6254: 651.5 s without vectors.",
            (
                Comparison(Published("AVX and AVX2 over none", "11 %", "section 6"),
                           lambda found: f"AVX {gained('AVX')(found)}, AVX2 {gained('AVX2')(found)}",
                           "an MPI_Allreduce of this run has so few bytes (last line) that no vector has a part in it: "
                           "the differences are those between runs"),
                Comparison(Published("AVX-512 over none", "13.4 %, tuned 14.7 %", "section 6"), gained("AVX-512"),
                           "as above"),
                Comparison(Published("Millrace over none", "not in the paper", "-"), gained("AVX-512", "Millrace"),
                           "as above; what Millrace changes is how ranks wait for each other"),
                Comparison(Published("bytes of an MPI_Allreduce", "not in the paper", "-"),
                           lambda found: f"{found.line('Millrace', REPORTED)['bytes of a call']:.1f} bytes",
                           "by Millrace's report of a run"),
            ),
            75, lammps, Drawing("", "", "bars", log_y=False), ("openmpi4",),
            "Two ranks, 40 000 steps, 1280 atoms (examples/demo/chute.in); all sides in turns, medians of four, with "
            "their quartiles.",
            "Debian's LAMMPS, a chute that fits two cores.",
        ),
        Figure(
            "13", "training with gradients of AlexNet's size",
            "tf_cnn_benchmarks by Horovod, AlexNet on synthetic data, 192 to 1536 ranks on Xeon Platinum 8160.",
            (
                Comparison(Published("AVX-512 over the element-wise loop", "5.45 % on 192, 12.38 % on 1536 ranks",
                                     "section 7"),
                           faster("a step", BARE, WIDE),
                           "two ranks: gradients are shared by a larger part of a step, which computes on one core"),
                Comparison(Published("the same, by Millrace", "not in the paper", "-"),
                           faster("a step", BARE, "Millrace"), "in the memory of the node, without messages"),
                Comparison(Published("MPI_Allreduce alone, by Millrace", "not in the paper", "-"),
                           faster("in Allreduce", BARE, "Millrace"), "as above"),
            ),
            80, training, Drawing("part", "s", "bars", log_y=False), ("openmpi4",),
            "Two ranks through mpi4py, 61 million floats in buffers of 64 MiB, 32 images a step; the three sides in "
            "turns, each a job of three steps and one before that does not count; medians of three jobs. The losses "
            "of all jobs were the same to the last digit.",
            "a network with the weights of AlexNet in NumPy, trained with the digits of scikit-learn (UCI): TensorFlow "
            "and Horovod are not in it, the Allreduce of fused gradients is.",
        ),
    ),
)  # fmt: skip
