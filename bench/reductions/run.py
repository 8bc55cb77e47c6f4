"""MPI_Reduce_local with Millrace's kernels, each host's own code, a plain loop and memcpy.

    ./dev bench reductions
    PYTHONPATH=tests/hosts bench/reductions/run.py [--hosts ...] [--turns 9] [--largest BYTES] [--csv FILE]

One process per host, run under Millrace: MPI_Reduce_local is ours, PMPI_Reduce_local the host's, in turns; medians.
Hot: the same buffers again and again. Cold: every line flushed before the one call that is timed. GB/s count two loads
and one store. Prints, per kernel and size, ours beside the best host, and every point that misses a bar of 0.97 of the
best host or, where a plain loop was measured, 0.95 of the slower of the plain loop and memcpy's bytes per second.
"""

import argparse
import csv
import pathlib
import sys

import hosts

HERE = pathlib.Path(__file__).resolve().parent
OUT = hosts.BUILD / "bench" / "reductions"
NUMBERS = ("ours_ns", "host_ns", "plain_ns", "memcpy_ns", "ratio_low", "ratio", "ratio_high")
FIELDS = ("host", "kernel", "bytes", "mode", *NUMBERS)


def measure(name, turns, largest):
    flags = ["-O3", "-march=native", "-std=c++17"]
    probe = hosts.compile(name, HERE / "probe.cpp", OUT / name / "probe", flags=flags)
    finished = hosts.run(name, 1, [probe, turns, largest], millrace=True, timeout=3000).check()
    for line in finished.stdout.splitlines():
        kernel, size, mode, *numbers = line.split()
        yield dict(zip(FIELDS, (name, kernel, int(size), mode, *map(float, numbers)), strict=True))


def points(rows):
    """(kernel, bytes, mode) -> rows of all hosts"""
    found = {}
    for row in rows:
        found.setdefault((row["kernel"], row["bytes"], row["mode"]), []).append(row)
    return found


def gigabytes(size, time_ns):
    return 3 * size / time_ns if time_ns else 0


def misses(size, rows):
    """What falls short at one point, in words."""
    worst = min(rows, key=lambda row: row["ratio"])
    if worst["ratio"] < 0.97:
        yield f"{worst['ratio']:.2f} of {worst['host']} ({worst['ratio_low']:.2f} to {worst['ratio_high']:.2f})"
    ours = min(row["ours_ns"] for row in rows)
    plain = min(row["plain_ns"] for row in rows)
    # memcpy moves two bytes where a reduction moves three
    limit = max(plain, 1.5 * min(row["memcpy_ns"] for row in rows)) if plain else 0
    if limit and limit / ours < 0.95:
        yield f"{limit / ours:.2f} of the limit"


def show(rows):
    short = []
    print("kernel            bytes     mode   ours GB/s   best host GB/s          ratio   plain GB/s   memcpy GB/s")
    for (kernel, size, mode), own in points(rows).items():
        best = min(own, key=lambda row: row["host_ns"])
        ours = min(row["ours_ns"] for row in own)
        plain, memcpy = min(row["plain_ns"] for row in own), min(row["memcpy_ns"] for row in own)
        print(
            f"{kernel:16} {size:9} {mode:5} {gigabytes(size, ours):10.1f} {gigabytes(size, best['host_ns']):10.1f} "
            f"{best['host']:9} {best['host_ns'] / ours:8.2f} {gigabytes(size, plain):10.1f} "
            f"{gigabytes(size, memcpy) / 1.5:10.1f}"
        )
        short += [f"{kernel} {size} {mode}: {what}" for what in misses(size, own)]
    print(f"\n{len(points(rows))} points, {len(short)} misses")
    print("\n".join(short))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--hosts", default="openmpi4,openmpi5,mpich4,mpich5,intel")
    parser.add_argument("--turns", type=int, default=9)
    parser.add_argument("--largest", type=int, default=64 << 20)
    parser.add_argument("--csv", type=pathlib.Path, default=OUT / "reductions.csv")
    arguments = parser.parse_args()
    OUT.mkdir(parents=True, exist_ok=True)
    rows = []
    for name in arguments.hosts.split(","):
        print(f"{name} ...", file=sys.stderr, flush=True)
        rows += measure(name, arguments.turns, arguments.largest)
    with arguments.csv.open("w", newline="") as file:
        writer = csv.DictWriter(file, FIELDS)
        writer.writeheader()
        writer.writerows(rows)
    show(rows)


if __name__ == "__main__":
    main()
