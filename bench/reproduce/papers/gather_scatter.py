"""Zhong et al.: AVX-512 gather and scatter for data that are not contiguous, in Open MPI."""

import hosts
from data import Point, median_times
from figure import Comparison, Drawing, Figure, Paper, Published

BYTES = [1 << i for i in range(10, 23, 2)] + [512 << 10]
SIZES = ",".join(map(str, sorted(BYTES)))
LINES = {f"vector_1_{16 * lines}_int": lines for lines in (1, 2, 3, 4)}
RATE = Drawing("packed bytes", "GB/s")
HOT = "Of packed bytes, the same buffers again and again"
HERE = f"{HOT}: MPI_Pack and MPI_Unpack of one rank, lower quartiles of eleven turns; kernels without an MPI, medians."
HOST = "Open MPI"
KERNELS = {"blocks": "kernel: block by block", "wide": "kernel: wide moves", "permute": "kernel: permute",
           "masked": "kernel: masked stores", "gather": "kernel: gather", "scatter": "kernel: scatter"}  # fmt: skip


def calls(runner, direction, names, sizes, x_of, panel=""):
    """GB/s of the whole call: the host's, ours, and memcpy; names of layouts"""
    options = ("--what", "pack", "--hosts", "openmpi4", "--rows", ",".join(names), "--bytes", sizes)
    for row in runner.bench("layouts", 60, *options, inside="pack.csv"):
        if (row["form"], row["state"]) != (direction, "hot"):
            continue
        size = float(row["bytes"])
        sides = {HOST: "host_ns", "Millrace": "ours_ns", "memcpy": "memcpy_ns"}
        for side, key in sides.items():
            yield Point(side, x_of(row), size / float(row[key]), panel=panel)


def kernels(runner, direction, shapes, sizes, x_of, panel=""):
    """GB/s of each strategy by itself; shapes: block and stride in bytes, as 8:12"""
    program = hosts.BUILD / "bench" / "copy_speed"
    options = ("--kernels", "--turns=15", f"--bytes={sizes}", f"--grid={','.join(shapes)}")
    said = runner.rows.get(options) or runner.run("kernels alone", 15, program, *options)
    runner.rows[options] = said
    for line in said.splitlines():
        if line.startswith("#"):
            continue
        name, rest = line[:22].strip(), line[22:].split()
        if rest[0] != direction:
            continue
        values = dict(zip(rest[3::2], rest[4::2], strict=True))
        for kernel, called in KERNELS.items():
            if kernel in values:
                yield Point(called, x_of(name, int(rest[1])), float(values[kernel]), panel=panel)


def of_vector(direction):
    def measure(runner):
        yield from calls(runner, direction, ["vector_2_3_int"], SIZES, lambda row: int(row["bytes"]))
        yield from kernels(runner, direction, ["8:12"], SIZES, lambda _, size: size)

    return measure


def across_lines(runner):
    for direction in ("pack", "unpack"):
        for size in (8192, 524288):
            panel = f"{direction}, {size // 1024} KiB"
            found = calls(runner, direction, LINES, "8192,524288",
                          lambda row: (LINES[row["name"]], int(row["bytes"])), panel)  # fmt: skip
            yield from (Point(p.series, p.x[0], p.value, panel=panel) for p in found if p.x[1] == size)
            shapes = [f"4:{64 * lines}" for lines in LINES.values()]
            yield from kernels(runner, direction, shapes, size, lambda name, _: int(name.split()[-1]) // 64, panel)


def compare(above, below, only=None, panel=""):
    """How many times the rate of `above` is that of `below`."""
    return lambda found: median_times(found.ratios(above, below, panel, only))


def percent(above, below, x):
    return lambda found: f"{100 * found.ratios(above, below)[x]:.0f} %"


def slower_at(series, panel):
    """Rates at 1 to 4 lines."""

    def words(found):
        own = found.line(series, panel)
        return ", ".join(f"{own[lines]:.1f}" for lines in sorted(own)) + " GB/s"

    return words


def best_other(found):
    """Gathers beside the fastest kernel that does not gather."""
    gather, most = found.line(KERNELS["gather"]), {}
    for name in (KERNELS[key] for key in ("blocks", "wide", "permute")):
        if name in found.series():
            for x, value in found.line(name).items():
                most[x] = max(value, most.get(x, 0))
    ratios = {x: most[x] / gather[x] for x in gather}
    return median_times(ratios) + " the rate of gathers"


STENCIL = "stencil --size 1000 --total --radius {radius} --iterations 400 --grid {grid}"
FFT = "fft2d --size 2000 --iterations 4"


def applications(runner, ranks, commands, turns, seconds):
    """Rows of an example with and without Millrace."""
    options = [word for command in commands for word in ("--command", command)]
    return runner.bench("applications", seconds, "--hosts", "openmpi4", "--ranks", ranks, "--turns", turns, *options,
                        what=f"{commands[0].split()[0]}, {ranks} ranks")  # fmt: skip


ITERATION, QUOTIENT = "{} ranks on two cores, us of an iteration", "{} ranks, Open MPI / Millrace"
SIDES = {HOST: "alone_us", "Millrace": "ours_us"}


def stencil(runner):
    """us of an iteration, and the quotient by turn"""
    for ranks, grid in ((2, "1x2"), (16, "2x8")):
        commands = [STENCIL.format(radius=radius, grid=grid) for radius in (1, 2, 3)]
        rows = {f"radius {row['case'].split()[5]}": row for row in applications(runner, ranks, commands, 5, 50)}
        for x, row in rows.items():
            for side, key in SIDES.items():
                yield Point(side, x, float(row[key]), panel=ITERATION.format(ranks))
        for x, row in rows.items():
            values = (float(row[key]) for key in ("ratio", "low", "high"))
            yield Point("Open MPI / Millrace", x, *values, panel=QUOTIENT.format(ranks))


def fft(runner):
    for ranks in (2, 4, 8):
        for row in applications(runner, ranks, [FFT], 3, 30):
            for side, key in SIDES.items():
                yield Point(side, f"{ranks} ranks", float(row[key]))


def faster_by_turn(found):
    """The median, and the quartiles."""
    words = []
    for point in found.points:
        if point.series == "Open MPI / Millrace":
            low, middle, high = (f"{100 * (value - 1):+.0f}" for value in (point.low, point.value, point.high))
            words.append(f"{point.panel.split(',')[0]}, {point.x}: {middle} % ({low} to {high})")
    return "; ".join(words)


def faster(found):
    return ", ".join(f"{x}: {100 * (ratio - 1):+.0f} %" for x, ratio in found.ratios(HOST, "Millrace").items())


def paper_of(direction, word, value, share):
    instruction = KERNELS["gather" if direction == "pack" else "scatter"]
    comparisons = [
        Comparison(Published(f"{word} over Open MPI's loop of copies", value, "section IV.B"),
                   compare(instruction, HOST),
                   f"the kernel of {word}s without the call. Open MPI 4 still copies block by block; a {word} of Zen 4 "
                   "takes about as many cycles as it has elements"),
        Comparison(Published("Millrace over Open MPI, the whole call", "not in the paper", "-"),
                   compare("Millrace", HOST),
                   "shuffles within registers in place of gathers" if direction == "pack" else
                   "shuffles, and stores under a mask, in place of scatters"),
        Comparison(Published(f"{word} of memcpy's rate, 512 KB", share, "section IV.B"),
                   percent(instruction, "memcpy", 512 << 10), "memcpy of data in the second-level cache is faster "
                                                              "here"),
        Comparison(Published("Millrace of memcpy's rate, 512 KB", "not in the paper", "-"),
                   percent("Millrace", "memcpy", 512 << 10), "as above"),
    ]  # fmt: skip
    if direction == "pack":
        comparisons.append(
            Comparison(
                Published("the best of the other kernels over gathers", "not in the paper", "-"),
                best_other,
                "why Millrace does not gather such vectors",
            )
        )
    return tuple(comparisons)


PAPER = Paper(
    "gather-scatter",
    "AVX-512 gather and scatter",
    "Dong Zhong, Qinglei Cao, George Bosilca, Jack Dongarra: AVX-512 Gather and Scatter for Non-contiguous Data "
    "Movement in Open MPI.",
    (
        Figure("6", "MPI_Pack of vector(2,3,int)",
               "Open MPI's loop of copies, gathers, and memcpy, on a Xeon Gold 6254.",
               paper_of("pack", "gather", "2.3 to 3.5 times", "41 %"), 75, of_vector("pack"), RATE, ("openmpi4",),
               HERE),
        Figure("7", "MPI_Unpack of vector(2,3,int)",
               "Open MPI's loop of copies, scatters, and memcpy, on a Xeon Gold 6254.",
               paper_of("unpack", "scatter", "3.4 times", "35 %"), 75, of_vector("unpack"), RATE, ("openmpi4",), HERE),
        Figure(
            "8", "pack and unpack of an int in each cache line, or in each second to fourth",
            "Open MPI's loop of copies, gathers and scatters, stride 1 to 4 cache lines, on a Xeon Gold 6254.",
            (
                Comparison(Published("gathers against the loop of copies", "faster at each stride", "section IV.B"),
                           compare(KERNELS["gather"], HOST, panel="pack, 8 KiB"), "8 KiB packed, the kernel alone"),
                Comparison(Published("scatters against the loop of copies", "faster at each stride, more than gathers",
                                     "section IV.B"),
                           compare(KERNELS["scatter"], HOST, panel="unpack, 8 KiB"), "8 KiB packed, the kernel alone"),
                Comparison(Published("the loop of copies from 1 to 4 lines", "much slower from 2 lines on",
                                     "section IV.B"),
                           slower_at(HOST, "pack, 8 KiB"), "the memory touched is the same number of lines each time"),
                Comparison(Published("gathers from 1 to 4 lines", "slower by little, and gradually", "section IV.B"),
                           slower_at(KERNELS["gather"], "pack, 8 KiB"), "as above"),
                Comparison(Published("Millrace over Open MPI, the whole call", "not in the paper", "-"),
                           compare("Millrace", HOST, panel="pack, 8 KiB"),
                           "what is saved is the host's loop: each kernel has to fetch a line for an int, so none is "
                           "far ahead, and gathers are not needed"),
            ),
            120, across_lines, Drawing("cache lines from one int to the next", "GB/s", log_x=False),
            ("openmpi4",), HERE,
        ),
        Figure(
            "10", "a star stencil on a plane of 1000 by 1000 floats",
            "16 ranks as 2 by 8, radius 1, 2, 3, 100 iterations, on a Xeon Gold 6254.",
            (
                Comparison(Published("gathers over Open MPI, the whole run", "10 % at each radius", "section V.A"),
                           faster_by_turn,
                           "packing is a small part of an iteration on two ranks; 16 ranks take turns on two cores: "
                           "their runs differ by more than the two sides do (quartiles in brackets). Theirs copies by "
                           "hand without gathers, ours sends the datatype in both"),
            ),
            100, stencil, Drawing("", "", "bars", log_y=False), ("openmpi4",),
            "examples/stencil, 400 iterations, the two in turns, medians of five runs; of 16 ranks on two cores the "
            "mean of all iterations, of two their median.",
        ),
        Figure(
            "11", "a two-dimensional FFT",
            "8000 elements in each dimension, three numbers of ranks, transposes by MPI_Alltoall of a vector type.",
            (
                Comparison(Published("gathers and scatters over Open MPI, the whole run", "8 % in each case",
                                     "section V.B"),
                           faster, "2000 elements, and fewer cores than ranks from four on"),
            ),
            90, fft, Drawing("", "us of an iteration", "bars", log_y=False), ("openmpi4",),
            "examples/fft2d with FFTW, a transform and its inverse an iteration, the two in turns, medians of three "
            "runs.",
        ),
    ),
)  # fmt: skip
