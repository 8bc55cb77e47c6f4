"""millrace.reduce beside NumPy's own functions, in turns.

    ./dev bench python
    bench/python/run.py [--turns 21] [--csv FILE] [--most-elements 10000000] [--op sum] [--below 0.97]

One thread unless --threads says otherwise, warm. In each turn both sides work for about a millisecond, or one call, one
right after the other; ratios are medians of the turns' ratios, times medians of the turns' times. A ratio above 1 says
that Millrace is faster. NumPy's side is what a program would write: `np.add(a, b)` for a new array,
`np.add(a, b, out=out)` for one that exists, and for four arrays a chain of these, into `out` from the second on.
The last lines count the points and name those below --below.
"""

import argparse
import csv
import os
import pathlib
import platform
import statistics
import sys
import time

import hosts
import numpy as np

os.environ.setdefault("MILLRACE_LIBRARY", str(hosts.BUILD / "lib" / "libmillrace.so.0"))
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "python"))

import millrace  # noqa: E402

TURN_NS = 1_000_000
DTYPES = "f2 f4 f8 i1 i2 i4 i8 c8 c16".split()
FUNCTIONS = {"sum": np.add, "prod": np.multiply, "max": np.maximum, "min": np.minimum, "band": np.bitwise_and}
MANY = 4
FORMS = ("new", "out", "many new", "many out")


def works(op, arrays, out):
    """form -> (ours, NumPy's)"""
    function = FUNCTIONS[op]
    a, b, *rest = arrays

    def chain(result):
        for array in rest:
            function(result, array, out=result)
        return result

    return {
        "new": (lambda: millrace.reduce(op, a, b), lambda: function(a, b)),
        "out": (lambda: millrace.reduce(op, a, b, out=out), lambda: function(a, b, out=out)),
        "many new": (lambda: millrace.reduce(op, *arrays), lambda: chain(function(a, b))),
        "many out": (lambda: millrace.reduce(op, *arrays, out=out), lambda: chain(function(a, b, out=out))),
    }


def one_turn_ns(work, repeats):
    start = time.perf_counter_ns()
    for _ in range(repeats):
        work()
    return (time.perf_counter_ns() - start) / repeats


def in_turns(ours, numpys, turns):
    """(ratio, our ns a call, NumPy's). Who goes first changes from turn to turn."""
    sides, repeats, times = (ours, numpys), [], ([], [])
    for work in sides:
        work()
        repeats.append(max(1, int(TURN_NS / (one_turn_ns(work, 3) + 1))))
    for turn in range(turns):
        for side in (0, 1) if turn % 2 == 0 else (1, 0):
            times[side].append(one_turn_ns(sides[side], repeats[side]))
    ratio = statistics.median(numpy_ns / our_ns for our_ns, numpy_ns in zip(*times, strict=True))
    return ratio, *map(statistics.median, times)


def made(rng, elements, dtype):
    """Numbers whose sums and products stay what they are: no infinities, no denormals, nothing that slows NumPy."""
    if np.dtype(dtype).kind == "i":
        return rng.integers(-100, 100, elements).astype(dtype)
    numbers = rng.uniform(0.9, 1.1, elements)
    return (numbers + 0.1j * rng.uniform(-1, 1, elements) if dtype[0] == "c" else numbers).astype(dtype)


def measure(op, dtype, elements, turns):
    rng = np.random.default_rng(elements)
    arrays = [made(rng, elements, dtype) for _ in range(MANY)]
    row = {"op": op, "dtype": np.dtype(dtype).name, "elements": elements}
    for form, sides in works(op, arrays, np.empty(elements, dtype)).items():
        row[form] = in_turns(*sides, turns)
    return row


def processor():
    with open("/proc/cpuinfo") as file:
        names = [line.split(":", 1)[1].strip() for line in file if line.startswith(("model name", "model\t"))]
    return ", model ".join(reversed(names[:2])) if names else platform.machine()


def points(rows):
    """(ratio, row, form) of all measured."""
    return [(row[form][0], row, form) for row in rows for form in FORMS]


def summary(rows, below):
    found = points(rows)
    lost = sorted((point for point in found if point[0] < below), key=lambda point: point[0])
    mean = statistics.geometric_mean([ratio for ratio, _, _ in found])
    print(f"\n{len(found)} points, geometric mean {mean:.2f}, least {min(found, key=lambda p: p[0])[0]:.2f}, ", end="")
    print(f"{len(lost)} below {below:g}" + (":" if lost else ""))
    for ratio, row, form in lost:
        print(f"    {ratio:.2f}  {row['op']} {row['dtype']} {row['elements']}, {form}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--turns", type=int, default=21)
    parser.add_argument("--csv", type=pathlib.Path)
    parser.add_argument("--most-elements", type=int, default=10**7)
    parser.add_argument("--op", choices=FUNCTIONS, action="append", help="default: sum")
    parser.add_argument("--dtype", choices=DTYPES, action="append", help="default: all")
    parser.add_argument("--threads", type=int, default=1, help="0 uses idle cores")
    parser.add_argument("--below", type=float, default=0.97)
    options = parser.parse_args()
    millrace.use_threads(options.threads)
    print(f"{processor()}, kernels {millrace.isa()}, NumPy {np.__version__}, Python {platform.python_version()}")
    print(
        "\n| op | dtype | elements | "
        + " | ".join(FORMS)
        + " | Millrace ns | NumPy ns |\n|"
        + "---|" * (5 + len(FORMS))
    )
    rows = []
    for op in options.op or ["sum"]:
        for dtype in options.dtype or DTYPES:
            if not millrace.supported(op, dtype):
                continue
            elements = 10
            while elements <= options.most_elements:
                row = measure(op, dtype, elements, options.turns)
                rows.append(row)
                ratios = [f"{row[form][0]:.2f}" for form in FORMS]
                cells = [op, row["dtype"], str(elements), *ratios, *(f"{side:.0f}" for side in row["out"][1:])]
                print("|", " | ".join(cells), "|", flush=True)
                elements *= 10
    summary(rows, options.below)
    if options.csv:
        with options.csv.open("w", newline="") as file:
            writer = csv.writer(file)
            writer.writerow(["op", "dtype", "elements", "form", "ratio", "millrace_ns", "numpy_ns"])
            for row in rows:
                for form in FORMS:
                    ratio, *times = row[form]
                    writer.writerow(
                        [row["op"], row["dtype"], row["elements"], form, f"{ratio:.3f}", *map(round, times)]
                    )


if __name__ == "__main__":
    main()
