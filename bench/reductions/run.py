"""MPI_Reduce_local with Millrace's kernels, each host's own code, a plain loop and memcpy.

    ./dev bench reductions
    PYTHONPATH=tests/hosts bench/reductions/run.py [--hosts ...] [--turns 9] [--largest BYTES] [--csv FILE]
        [--points sum_u8:cold:1024,2048] [--env NAME=VALUE]
    PYTHONPATH=tests/hosts bench/reductions/run.py --show FILE... [--summary FILE.csv] [--plot FILE.png]

One process per host, run under Millrace: MPI_Reduce_local is ours, PMPI_Reduce_local the host's, in turns; medians.
Modes: see probe.cpp. GB/s count two loads and one store. Every op on every C type; at 64 MiB one kernel of each class.

A second look: every point whose median of host / ours is below 1.03 or whose speed is below the limit (so on either
side of the bars of 0.97 and 0.95) is measured again with three times as many turns, and only that counts. Prints, per
kernel and size, ours beside the best host, and every point that misses a bar: 0.97 of the best host; 0.95 of the plain
loop or of memcpy's bytes per second, whichever is slower. --plot needs matplotlib (./dev setup plot).
"""

import argparse
import csv
import pathlib
import subprocess
import sys

import hosts

HERE = pathlib.Path(__file__).resolve().parent
OUT = hosts.BUILD / "bench" / "reductions"
NUMBERS = ("ours_ns", "host_ns", "plain_ns", "memcpy_ns", "ratio_low", "ratio", "ratio_high")
FIELDS = ("host", "kernel", "bytes", "mode", "turns", *NUMBERS)
SECOND_LOOK_BELOW = 1.03


def read(name, text):
    for line in text.splitlines():
        kernel, size, mode, turns, *numbers = line.split()
        yield dict(zip(FIELDS, (name, kernel, int(size), mode, int(turns), *map(float, numbers)), strict=True))


def probe(name, *arguments, env=None):
    flags = ["-O3", "-march=native", "-std=c++17"]
    program = hosts.compile(name, HERE / "probe.cpp", OUT / name / "probe", flags=flags)
    command = [program, *arguments]
    return read(name, hosts.run(name, 1, command, millrace=True, env=env, timeout=3000, bind=True).check().stdout)


def measure_points(name, turns, wanted, env):
    """wanted: (kernel, bytes, mode); no second look"""
    path = OUT / name / "points.txt"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join("{} {} {}\n".format(*point) for point in wanted))
    return list(probe(name, turns, "again", path, env=env))


def measure(name, turns, largest, env):
    found = {(row["kernel"], row["bytes"], row["mode"]): row for row in probe(name, turns, largest, env=env)}
    near = [point for point, row in found.items() if row["ratio"] < SECOND_LOOK_BELOW or limit_ratio(row) < 1]
    for row in measure_points(name, 3 * turns, near, env):
        found[row["kernel"], row["bytes"], row["mode"]] = row
    return list(found.values())


def named_points(text):
    """(kernel, bytes, mode) of "sum_u8:cold:1024,2048;band_u8:hot:64"."""
    for part in text.split(";"):
        kernel, mode, sizes = part.split(":")
        yield from ((kernel, int(size), mode) for size in sizes.split(","))


def points(rows):
    """(kernel, bytes, mode) -> rows of all hosts"""
    found = {}
    for row in rows:
        found.setdefault((row["kernel"], row["bytes"], row["mode"]), []).append(row)
    return found


def gigabytes(size, time_ns):
    return 3 * size / time_ns if time_ns else 0


def limit_ratio(row):
    """The slower of the plain loop and memcpy's bytes per second, by ours; memcpy moves 2 bytes where we move 3."""
    return max(row["plain_ns"], 1.5 * row["memcpy_ns"]) / row["ours_ns"]


def misses(rows):
    """What falls short at one point, in words."""
    worst = min(rows, key=lambda row: row["ratio"])
    if worst["ratio"] < 0.97:
        yield f"{worst['ratio']:.2f} of {worst['host']} ({worst['ratio_low']:.2f} to {worst['ratio_high']:.2f})"
    ratios = sorted(map(limit_ratio, rows))
    if ratios[len(ratios) // 2] < 0.95:
        yield f"{ratios[len(ratios) // 2]:.2f} of the limit"


def show(rows):
    short = []
    print("kernel            bytes     mode   ours GB/s   best host GB/s          ratio   plain GB/s   memcpy GB/s")
    for (kernel, size, mode), own in points(rows).items():
        worst = min(own, key=lambda row: row["ratio"])  # ours and that host in one process
        print(
            f"{kernel:16} {size:9} {mode:5} {gigabytes(size, worst['ours_ns']):10.1f} "
            f"{gigabytes(size, worst['host_ns']):10.1f} {worst['host']:9} {worst['ratio']:8.2f} "
            f"{gigabytes(size, worst['plain_ns']):10.1f} {gigabytes(size, worst['memcpy_ns']) / 1.5:10.1f}"
        )
        short += [f"{kernel} {size} {mode}: {what}" for what in misses(own)]
    print(f"\n{len(points(rows))} points, {len(short)} misses")
    print("\n".join(short))


def load(paths):
    for path in paths:
        with path.open(newline="") as file:
            for row in csv.DictReader(file):
                numbers = {key: float(row[key]) for key in NUMBERS}
                yield {**row, **numbers, "bytes": int(row["bytes"]), "turns": int(row["turns"])}


def store(path, rows):
    with path.open("w", newline="") as file:
        writer = csv.DictWriter(file, FIELDS)
        writer.writeheader()
        writer.writerows(rows)


def store_summary(path, rows):
    """A line a point: times of the process in which ours came closest to a host, and host / ours for every host."""
    names = list(dict.fromkeys(row["host"] for row in rows))
    with path.open("w", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(("kernel", "bytes", "mode", "ours_ns", "plain_ns", "memcpy_ns", *names))
        for point, own in points(rows).items():
            worst = min(own, key=lambda row: row["ratio"])
            ratios = {row["host"]: f"{row['ratio']:.2f}" for row in own}
            times = (f"{worst[key]:.4g}" for key in ("ours_ns", "plain_ns", "memcpy_ns"))
            writer.writerow((*point, *times, *(ratios.get(name, "") for name in names)))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--hosts", type=hosts.host_names, default="openmpi4,openmpi5,mpich4,mpich5,intel")
    parser.add_argument("--turns", type=int, default=9)
    parser.add_argument("--largest", type=int, default=64 << 20)
    parser.add_argument("--points", type=named_points, help="these alone: kernel:mode:bytes,bytes;...")
    parser.add_argument("--env", action="append", default=[], metavar="NAME=VALUE", help="in the job's environment")
    parser.add_argument("--csv", type=pathlib.Path, default=OUT / "reductions.csv")
    parser.add_argument("--show", type=pathlib.Path, nargs="+", help="files of earlier runs; measures nothing")
    parser.add_argument("--summary", type=pathlib.Path, help="a CSV with a line a point")
    parser.add_argument("--plot", type=pathlib.Path)
    arguments = parser.parse_args()
    OUT.mkdir(parents=True, exist_ok=True)
    rows = list(load(arguments.show)) if arguments.show else []
    env = dict(word.split("=", 1) for word in arguments.env)
    wanted = list(arguments.points or [])
    for name in [] if arguments.show else arguments.hosts.split(","):
        print(f"{name} ...", file=sys.stderr, flush=True)
        if wanted:
            rows += measure_points(name, arguments.turns, wanted, env)
        else:
            rows += measure(name, arguments.turns, arguments.largest, env)
    if not arguments.show or len(arguments.show) > 1:
        store(arguments.csv, rows)
    show(rows)
    if arguments.summary:
        store_summary(arguments.summary, rows)
    if arguments.plot:
        python = hosts.ENVIRONMENTS / "plot" / "bin" / "python"
        source = arguments.show[0] if arguments.show and len(arguments.show) == 1 else arguments.csv
        subprocess.run([python, HERE / "plot.py", source, arguments.plot], check=True)


if __name__ == "__main__":
    main()
