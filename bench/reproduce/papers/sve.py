"""Zhong et al.: SVE in Open MPI. Instructions are counted under qemu; there is no SVE hardware here, and no gem5."""

from data import Point, times
from figure import Comparison, Drawing, Figure, Paper, Published

COUNTS = Drawing("vector bits", "instructions", reference="")
QEMU = ("Every instruction of one call, counted under qemu-aarch64 by a plugin: a run with two calls less a run with "
        "one.")  # fmt: skip
NO_GEM5 = ("times of gem5, a simulator of the processor that is in no package here, with the memory of no machine that "
           "can be bought; instructions of the same two are in {}.")  # fmt: skip
NO_A64FX = "no A64FX is at hand; what the same kernels execute is in {}."


def counts(runner, bench, seconds, names):
    """Points of a benchmark that counts instructions; names: its word -> the series"""
    for row in runner.bench(bench, seconds, timed=False):
        if row["what"] in names:
            yield Point(names[row["what"]], int(row["vector_bits"]), int(row["instructions"]))


def copies(runner):
    return counts(runner, "sve_copy_instructions", 30,
                  {"four": "Millrace, four vectors a turn", "one": "one vector a turn"})  # fmt: skip


def strided_copies(runner):
    names = {"scalar": "block by block", "neon": "block by block, NEON unit", "gather": "Millrace, gather loads",
             "sve": "Millrace, structure loads"}  # fmt: skip
    return counts(runner, "sve_copy_instructions", 30, names)


def maxima(runner):
    names = {"sve": "Millrace, SVE", "plain": "compiler's loop, SVE", "scalar": "scalar kernel", "neon": "NEON kernel"}
    return counts(runner, "sve_instructions", 40, names)


def at(bits):
    return lambda x: x == bits


PAPER = Paper(
    "sve",
    "SVE in Open MPI",
    "Dong Zhong, Pavel Shamis, Qinglei Cao, George Bosilca, Shinji Sumimoto, Kenichi Miura, Jack Dongarra: Using Arm "
    "Scalable Vector Extension to Optimize Open MPI, CCGRID 2020.",
    (
        Figure(
            "2", "copying 1 MB that is contiguous, instructions by vector length",
            "memcpy and a copy that loads and stores four vectors at a time, counted by ArmIE.",
            (
                Comparison(
                    Published("instructions of memcpy over those of the copy by four vectors", "4 times",
                              "section IV.C.1, “400%”"),
                    lambda found: times(found.ratios("one vector a turn", "Millrace, four vectors a turn")),
                    "theirs has five instructions a turn, whether of one vector or of four; here the compiler makes "
                    "six of a "
                    "turn of one vector, and a turn of four takes four",
                ),
                Comparison(
                    Published("from 128 to 2048 bits", "linear decrease", "section IV.C.1"),
                    lambda found: "{:.1f} times fewer".format(
                        found.line("Millrace, four vectors a turn")[128]
                        / found.line("Millrace, four vectors a turn")[2048]),
                    "16 times the vector. Their memcpy used NEON at 128 bits; ours is compiled for SVE at each length",
                ),
            ),
            40, copies, COUNTS, conditions=f"1 MiB. {QEMU}",
        ),
        Figure("3", "copying 1 MB that is contiguous, simulated time",
               "memcpy and the copy by four vectors, in gem5.",
               (Comparison(Published("four vectors over memcpy", "5 % faster, 25 % at 128 bits", "section IV.C.1"),
                           lambda _: "", "needs gem5"),),
               instead=NO_GEM5.format("figure 2")),
        Figure(
            "4", "copying 1 MB in blocks of one element and gaps of one, instructions by vector length",
            "memcpy of each block, and gather loads, counted by ArmIE.",
            (
                Comparison(
                    Published("gathers, fewer than by blocks, from 128 to 2048 bits", "10 to 100 times",
                              "section IV.C.2"),
                    lambda found: times(found.ratios("block by block", "Millrace, gather loads")),
                    "theirs copies a block with a call of memcpy, ours with three or four instructions: there is "
                    "less to "
                    "save, and at 128 bits a gather of four elements costs more than it saves",
                ),
                Comparison(
                    Published("as the vector grows, block by block", "the same at each length", "section IV.C.2"),
                    lambda found: times(found.ratios("block by block", "block by block, NEON unit")) + " the NEON unit",
                    "the scalar unit has no vectors, so it is counted once; the NEON unit moves blocks of four bytes "
                    "one by one as well",
                ),
                Comparison(
                    Published("what Millrace runs in place of gathers", "not in the paper", "-"),
                    lambda found: times(found.ratios("block by block", "Millrace, structure loads")) + " fewer",
                    "loads that take a vector apart need no offsets, where blocks and gaps have one size",
                ),
            ),
            40, strided_copies, COUNTS, conditions=f"1 MiB of vector(1,2,int), packed. {QEMU}",
        ),
        Figure("5", "copying 1 MB with gaps, simulated time",
               "memcpy of each block, and gather loads, in gem5.",
               (Comparison(Published("gathers over memcpy", "15 to 20 % faster", "section IV.C.2"),
                           lambda _: "", "needs gem5"),),
               instead=NO_GEM5.format("figure 4")),
        Figure(
            "6", "MAX of two buffers of 4 MB of float, instructions by vector length",
            "the loop of Open MPI as the compiler vectorises it, and one by hand, counted by ArmIE.",
            (
                Comparison(
                    Published("by hand, of the compiler's loop", "66 %", "section IV.D"),
                    lambda found: "{:.0f} %".format(
                        100 * found.ratios("Millrace, SVE", "compiler's loop, SVE")[512]),
                    "GCC 12 makes a better loop than the compiler there; ours also keeps a NaN of the left operand, "
                    "which the compiler's loses",
                ),
                Comparison(
                    Published("128 bits over 2048 bits", "16 times", "section IV.D"),
                    lambda found: "{:.1f} times".format(
                        found.line("Millrace, SVE")[128] / found.line("Millrace, SVE")[2048]),
                    "the same",
                ),
            ),
            60, maxima, COUNTS, conditions=f"4 MiB. {QEMU}",
        ),
        Figure("7", "MAX of two buffers of 4 MB of float, simulated time",
               "the compiler's loop and the one by hand, in gem5.",
               (Comparison(Published("by hand over the compiler's", "30 % faster", "section IV.D"),
                           lambda _: "", "needs gem5"),),
               instead=NO_GEM5.format("figure 6")),
        Figure(
            "9", "sending 1 MB of a vector type to oneself, instructions by vector length",
            "Open MPI as it was and with gathers, counted by ArmIE; blocks of one element, gaps of one.",
            (
                Comparison(
                    Published("fewer than Open MPI at 256 bits", "16 %", "section VI"),
                    lambda found: "{:.0f} % fewer".format(
                        100 - 100 / found.ratios("block by block", "Millrace, gather loads")[256]),
                    "of packing alone; theirs has the whole send in it, ours nothing but the kernel",
                ),
                Comparison(
                    Published("fewer than Open MPI at 2048 bits", "almost 10 times", "section VI"),
                    lambda found: times(found.ratios("block by block", "Millrace, gather loads", only=at(2048))),
                    "the same",
                ),
            ),
            40, strided_copies, COUNTS, conditions=f"1 MiB of vector(1,2,int), packed. {QEMU}",
            instead="the kernels alone, block by block and by gathers, without an MPI around.",
        ),
        Figure(
            "10", "MPI_Reduce_local, MAX of 4 MB, instructions by vector length",
            "Open MPI, whose loop the compiler did not vectorise, and vectors, counted by ArmIE.",
            (
                Comparison(
                    Published("fewer than Open MPI at 128 bits", "50 %, so 2 times", "section VI"),
                    lambda found: times(found.ratios("scalar kernel", "Millrace, SVE", only=at(128))),
                    "our scalar kernel keeps NaN with two of its ten instructions an element, and takes four vectors a "
                    "turn where theirs takes one",
                ),
                Comparison(
                    Published("fewer than Open MPI at 2048 bits", "30 times", "section VI"),
                    lambda found: times(found.ratios("scalar kernel", "Millrace, SVE", only=at(2048))),
                    "the same",
                ),
            ),
            60, maxima, COUNTS, conditions=f"4 MiB of float. {QEMU}",
            instead="the kernels alone, scalar and SVE, without an MPI around.",
        ),
        Figure("11", "MPI_Pack and MPI_Unpack on an A64FX", "gathers of 256 and 512 bits, and without.",
               (Comparison(Published("gathers over the loop", "2 times faster", "section VII"),
                           lambda _: "", "needs the processor"),),
               instead=NO_A64FX.format("figures 4 and 9")),
        Figure("12", "MPI_Reduce_local on an A64FX", "vectors of 512 bits, the element-wise loop, memcpy.",
               (Comparison(Published("vectors over the element-wise loop", "4 times faster", "section VII"),
                           lambda _: "", "needs the processor"),),
               instead=NO_A64FX.format("figures 6 and 10")),
    ),
)  # fmt: skip
