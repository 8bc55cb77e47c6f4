"""millrace.pack and unpack beside numpy.ascontiguousarray and assignment, in turns.

    ./dev bench layouts_numpy
    bench/layouts_numpy/run.py [--turns 21] [--csv FILE]

One thread, warm, each turn about 2 ms. Medians; a ratio above 1 says that Millrace is faster. NumPy's side is what a
program would write: `np.ascontiguousarray(view)` for a new array, `out[...] = view` and `view[...] = packed` for arrays
that exist.
"""

import argparse
import csv
import os
import pathlib
import statistics
import sys
import time

import hosts
import numpy as np

os.environ.setdefault("MILLRACE_LIBRARY", str(hosts.BUILD / "lib" / "libmillrace.so.0"))
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "python"))

import millrace  # noqa: E402

TURN_NS = 2_000_000
FIELDS = ("view", "bytes", "new", "pack", "unpack", "pack_gbps", "numpy_gbps")


def views(packed_bytes):
    """name -> a view that shows about so many bytes."""
    n = packed_bytes
    side = int((n / 8) ** 0.5)
    cube = max(int((n / 4) ** (1 / 3)), 2)
    return {
        "every second f4": np.zeros(2 * n // 4, "f4")[::2],
        "two of three i4": np.zeros((n // 8, 3), "i4")[:, :2],
        "one field of four f8": np.zeros((n // 8, 4), "f8")[:, 1],
        "half of each row, f8": np.zeros((n // 64, 16), "f8")[:, 4:12],
        "long rows, f8": np.zeros((max(n // 4096, 1), 1024), "f8")[:, 100:612],
        "inner cube, f4": np.zeros((cube + 2, cube + 2, cube + 2), "f4")[1:-1, 1:-1, 1:-1],
        "reversed f8": np.zeros(n // 8, "f8")[::-1],
        "transposed f8": np.zeros((side, side), "f8").T,
        "transposed f4, padded": np.zeros((side, 2 * side + 32), "f4")[:, : 2 * side].T,
        "channel of RGB u1": np.zeros((n, 3), "u1")[:, 1],
        "field of structs, f8": np.zeros(n // 8, np.dtype("i4,f8,S3", align=True))["f1"],
    }


def one_turn_ns(work, repeats):
    start = time.perf_counter_ns()
    for _ in range(repeats):
        work()
    return (time.perf_counter_ns() - start) / repeats


def medians(works, turns):
    repeats = []
    for work in works:
        work()
        repeats.append(max(1, int(TURN_NS / (one_turn_ns(work, 1) + 1))))
    times = [[one_turn_ns(work, n) for work, n in zip(works, repeats, strict=True)] for _ in range(turns)]
    return [statistics.median(column) for column in zip(*times, strict=True)]


def measure(name, view, turns):
    out = np.empty(view.shape, view.dtype)

    def assign_out():
        out[...] = view

    def assign_view():
        view[...] = out

    ours_new, ours_out, ours_in, new, copied, assigned = medians(
        [
            lambda: millrace.pack(view),
            lambda: millrace.pack(view, out=out),
            lambda: millrace.unpack(out, view),
            lambda: np.ascontiguousarray(view),
            assign_out,
            assign_view,
        ],
        turns,
    )
    numbers = (new / ours_new, copied / ours_out, assigned / ours_in, view.nbytes / ours_out, view.nbytes / copied)
    return dict(zip(FIELDS, (name, view.nbytes, *numbers), strict=True))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--turns", type=int, default=21)
    parser.add_argument("--csv", type=pathlib.Path)
    options = parser.parse_args()
    rows = []
    print("| view | bytes | new array | into an array | out of an array | Millrace GB/s | NumPy GB/s |")
    print("|---|---|---|---|---|---|---|")
    for packed_bytes in (8 << 10, 64 << 10, 512 << 10, 16 << 20):
        for name, view in views(packed_bytes).items():
            row = measure(name, view, options.turns)
            rows.append(row)
            cells = [row["view"], str(row["bytes"]), *(f"{row[f]:.2f}" for f in FIELDS[2:5])]
            print("|", " | ".join([*cells, *(f"{row[f]:.1f}" for f in FIELDS[5:])]), "|", flush=True)
    if options.csv:
        with options.csv.open("w", newline="") as file:
            writer = csv.DictWriter(file, FIELDS)
            writer.writeheader()
            writer.writerows(rows)


if __name__ == "__main__":
    main()
