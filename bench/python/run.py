"""millrace.reduce beside NumPy's own functions, in turns.

    ./dev bench python
    bench/python/run.py [--turns 21] [--csv FILE] [--between] [--most-elements 10000000] [--op sum] [--below 0.97]
    bench/python/run.py --again FILE.csv [--turns 61]

One thread unless --threads says otherwise, warm. In each turn both sides work for about a millisecond, or one call, one
right after the other; ratios are medians of the turns' ratios, times medians of the turns' times. A ratio above 1 says
that Millrace is faster.
NumPy's side is what a program would write: `np.add(a, b)` for a new array, `np.add(a, b, out=out)` for one that exists,
and for three to five arrays a chain of these, into the result of the first from the second on. --between adds sizes
between the powers of ten: 2 and 5 times these, and the powers of two. The last lines count the points and name those
below --below; --again measures only those that are below in a file of an earlier run, and a point is slower if it is
slower in both.
"""

import argparse
import csv
import ctypes
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
MOST_ARRAYS = 5
FORMS = ("new", "out", "3 new", "3 out", "4 new", "4 out", "5 new", "5 out")


def keep_freed_memory():
    """Else the allocator gives the end of its heap back from time to time, whichever side's result lies there, and one
    side alone pays for pages that are mapped again."""
    trim_threshold, mmap_threshold = -1, -3
    for option, most_bytes in (trim_threshold, 2**30), (mmap_threshold, 2**25):
        if not ctypes.CDLL(None).mallopt(option, most_bytes):
            sys.exit(f"mallopt({option}, {most_bytes}) failed")


def sizes(most_elements, between):
    """From ten on; what is not a power of ten lies between two of them."""
    decades = [10**power for power in range(1, 9)]
    more = [2 * size for size in decades] + [5 * size for size in decades] + [2**power for power in range(4, 27)]
    return [size for size in sorted({*decades, *(more if between else [])}) if size <= most_elements]


def works(op, arrays, out):
    """form -> (ours, NumPy's)"""
    function, reduce = FUNCTIONS[op], millrace.reduce
    a, b, c, d, e = arrays
    # As a program would write each: to call with a list of arguments costs a call as much again.
    ours = {
        "new": lambda: reduce(op, a, b),
        "out": lambda: reduce(op, a, b, out=out),
        "3 new": lambda: reduce(op, a, b, c),
        "3 out": lambda: reduce(op, a, b, c, out=out),
        "4 new": lambda: reduce(op, a, b, c, d),
        "4 out": lambda: reduce(op, a, b, c, d, out=out),
        "5 new": lambda: reduce(op, a, b, c, d, e),
        "5 out": lambda: reduce(op, a, b, c, d, e, out=out),
    }

    def chain(rest, result):
        for array in rest:
            function(result, array, out=result)
        return result

    numpys = {"new": lambda: function(a, b), "out": lambda: function(a, b, out=out)}
    for count in range(3, MOST_ARRAYS + 1):
        rest = arrays[2:count]
        numpys[f"{count} new"] = lambda rest=rest: chain(rest, function(a, b))
        numpys[f"{count} out"] = lambda rest=rest: chain(rest, function(a, b, out=out))
    return {form: (ours[form], numpys[form]) for form in FORMS}


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


def measure(op, dtype, elements, turns, forms=FORMS):
    rng = np.random.default_rng(elements)
    arrays = [made(rng, elements, dtype) for _ in range(MOST_ARRAYS)]
    row = {"op": op, "dtype": np.dtype(dtype).name, "elements": elements}
    for form, sides in works(op, arrays, np.empty(elements, dtype)).items():
        if form in forms:
            row[form] = in_turns(*sides, turns)
    return row


def processor():
    with open("/proc/cpuinfo") as file:
        names = [line.split(":", 1)[1].strip() for line in file if line.startswith(("model name", "model\t"))]
    return ", model ".join(reversed(names[:2])) if names else platform.machine()


def points(rows):
    """(ratio, row, form) of all measured."""
    return [(row[form][0], row, form) for row in rows for form in FORMS if form in row]


def cells(row):
    ratios = [f"{row[form][0]:.2f}" if form in row else "" for form in FORMS]
    times = [f"{side:.0f}" for side in row["out"][1:]] if "out" in row else ["", ""]
    return [row["op"], row["dtype"], str(row["elements"]), *ratios, *times]


def write_csv(path, rows):
    with path.open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["op", "dtype", "elements", "form", "ratio", "millrace_ns", "numpy_ns"])
        for _, row, form in points(rows):
            ratio, *times = row[form]
            writer.writerow([row["op"], row["dtype"], row["elements"], form, f"{ratio:.3f}", *map(round, times)])


def slower_points(path, below):
    """(op, dtype, elements) -> forms that are below in the file of an earlier run."""
    found = {}
    with path.open() as file:
        for point in csv.DictReader(file):
            if float(point["ratio"]) < below:
                key = point["op"], point["dtype"], int(point["elements"])
                found.setdefault(key, []).append(point["form"])
    return found


def summary(rows, below):
    found = points(rows)
    if not found:
        print("\nno point")
        return
    lost = sorted((point for point in found if point[0] < below), key=lambda point: point[0])
    mean = statistics.geometric_mean([ratio for ratio, _, _ in found])
    print(f"\n{len(found)} points, geometric mean {mean:.2f}, least {min(found, key=lambda p: p[0])[0]:.2f}, ", end="")
    print(f"{len(lost)} below {below:g}" + (":" if lost else ""))
    for ratio, row, form in lost:
        print(f"    {ratio:.2f}  {row['op']} {row['dtype']} {row['elements']}, {form}")


def chosen(options):
    """(op, dtype, elements) -> forms to be measured."""
    if options.again:
        return slower_points(options.again, options.below)
    return {
        (op, dtype, elements): FORMS
        for op in options.op or ["sum"]
        for dtype in options.dtype or DTYPES
        if millrace.supported(op, dtype)
        for elements in sizes(options.most_elements, options.between)
    }


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--turns", type=int, default=21)
    parser.add_argument("--csv", type=pathlib.Path)
    parser.add_argument("--again", type=pathlib.Path, metavar="CSV", help="only points that are below in this file")
    parser.add_argument("--between", action="store_true", help="sizes between the powers of ten as well")
    parser.add_argument("--most-elements", type=int, default=10**7)
    parser.add_argument("--op", choices=FUNCTIONS, action="append", help="default: sum")
    parser.add_argument("--dtype", choices=DTYPES, action="append", help="default: all")
    parser.add_argument("--threads", type=int, default=1, help="0 uses idle cores")
    parser.add_argument("--below", type=float, default=0.97)
    options = parser.parse_args()
    keep_freed_memory()
    millrace.use_threads(options.threads)
    print(f"{processor()}, kernels {millrace.isa()}, NumPy {np.__version__}, Python {platform.python_version()}")
    print(
        "\n| op | dtype | elements | "
        + " | ".join(FORMS)
        + " | Millrace ns | NumPy ns |\n|"
        + "---|" * (5 + len(FORMS))
    )
    rows = []
    for key, forms in chosen(options).items():
        rows.append(measure(*key, options.turns, forms))
        print("|", " | ".join(cells(rows[-1])), "|", flush=True)
    summary(rows, options.below)
    if options.csv:
        write_csv(options.csv, rows)


if __name__ == "__main__":
    main()
