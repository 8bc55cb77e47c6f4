"""Computing while a nonblocking collective is under way: MPI_ (ours) and PMPI_ (the host's own) in turns.

    ./dev bench overlap
    PYTHONPATH=tests/hosts bench/overlap/run.py [--hosts ...] [--ranks 2] [--turns 11] [--compute-us 2000] [--csv FILE]

Medians over turns, in microseconds: of call and wait with nothing in between, and by how much a computation of
--compute-us between them takes longer, without a call of MPI in it and with twenty MPI_Test. What overlaps is missing
from the latter two.
"""

import argparse
import csv
import pathlib
import statistics
import sys

import hosts

HERE = pathlib.Path(__file__).resolve().parent
OUT = hosts.BUILD / "bench" / "overlap"
FIELDS = ("host", "name", "bytes", "side", "alone_us", "computing_us", "testing_us")


def run(name, options):
    program = hosts.compile(name, HERE / "overlap.cpp", OUT / name / "overlap", flags=["-std=c++20", f"-I{hosts.ROOT}"])
    line = [program, options.turns, options.compute_us]
    env = {"MILLRACE_PMPI": "alike"}
    done = hosts.run(name, options.ranks, line, millrace=True, env=env, timeout=options.timeout_s, bind=True)
    if done.returncode != 0 or done.timed_out:
        print(f"{name}: {done.stdout[-200:]} {done.stderr[-300:]}", file=sys.stderr)
    return [dict(zip(FIELDS, [name, *text.split()], strict=True)) for text in done.stdout.splitlines()]


def show(rows):
    print("| host | call | bytes | alone: ours, host | more than computing: ours, host | with tests: ours, host |")
    print("|---|---|---|---|---|---|")
    points = {}
    for row in rows:
        points.setdefault((row["host"], row["name"], row["bytes"]), {}).setdefault(row["side"], []).append(row)
    for (host, name, size), sides in points.items():
        cells = []
        for field in FIELDS[4:]:
            ours, theirs = (
                statistics.median(float(row[field]) for row in sides.get(side, [])) for side in ("ours", "host")
            )
            cells.append(f"{ours:.1f}, {theirs:.1f}")
        print(f"| {host} | {name} | {size} | {' | '.join(cells)} |")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--hosts", type=hosts.host_names, default="openmpi4,openmpi5,mpich4,mpich5,intel")
    parser.add_argument("--ranks", type=int, default=2)
    parser.add_argument("--turns", type=int, default=11)
    parser.add_argument("--compute-us", type=float, default=2000)
    parser.add_argument("--timeout-s", type=int, default=600)
    parser.add_argument("--csv", type=pathlib.Path)
    options = parser.parse_args()
    rows = [row for name in options.hosts.split(",") for row in run(name, options)]
    if options.csv:
        with options.csv.open("w", newline="") as file:
            writer = csv.DictWriter(file, FIELDS)
            writer.writeheader()
            writer.writerows(rows)
    show(rows)


if __name__ == "__main__":
    main()
