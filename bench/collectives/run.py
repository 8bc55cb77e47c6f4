"""Barrier, Bcast, Reduce and Allreduce through shared memory beside each host's own, the bare flags and memcpy.

    ./dev bench collectives
    PYTHONPATH=tests/hosts bench/collectives/run.py [--hosts ...] [--ranks 2] [--turns 9] [--modes hcow] [--csv FILE]

One process group per host under Millrace: MPI_ is ours, PMPI_ the host's own, in turns; a sample is the mean time of a
call on the slowest rank, and carries the time of a cache line between the two cores, which flips between states on
shared machines. Modes: h one buffer, c rotating buffers of 96 MiB, o rotating root, w started together by the clock.
Prints medians in microseconds, over the own host (median of host / ours by turn) and over the best of all hosts, and
the points below 0.97 of the own and 0.95 of the best host. Open MPI with coll_sm first counts as a host of its own.
"""

import argparse
import csv
import math
import pathlib
import statistics
import sys

import hosts

HERE = pathlib.Path(__file__).resolve().parent
OUT = hosts.BUILD / "bench" / "collectives"
FIELDS = ("host", "ranks", "collective", "bytes", "mode", "side", "turn", "us", "line_ns")
STANDARD = "openmpi4,openmpi4+sm,openmpi5,mpich4,mpich5,intel"


def measure(name, ranks, options):
    host, _, tuned = name.partition("+")
    probe = hosts.compile(host, HERE / "probe.cpp", OUT / host / "probe", flags=["-O3", "-march=native", "-std=c++17"])
    env = {"MILLRACE_PMPI": "alike", **({"OMPI_MCA_coll_sm_priority": "100"} if tuned else {})}
    arguments = [probe, options.turns, options.target_us, options.largest, options.kinds, options.modes, options.step]
    finished = hosts.run(host, ranks, arguments, millrace=True, env=env, timeout=3600, bind=ranks <= 2).check()
    for line in finished.stdout.splitlines():
        collective, size, mode, side, turn, us, line_ns = line.split()
        values = (name, ranks, collective, int(size), mode, side, int(turn), float(us), float(line_ns))
        yield dict(zip(FIELDS, values, strict=True))


def by_point(rows):
    """(ranks, collective, bytes, mode) -> host -> side -> list of us in the order of the turns"""
    points = {}
    for row in sorted(rows, key=lambda row: row["turn"]):
        key = (row["ranks"], row["collective"], row["bytes"], row["mode"])
        points.setdefault(key, {}).setdefault(row["host"], {}).setdefault(row["side"], []).append(row["us"])
    return points


def ratio(sides):
    return statistics.median(host / ours for host, ours in zip(sides["host"], sides["ours"], strict=True))


def geometric_mean(values):
    return math.exp(statistics.fmean(map(math.log, values))) if values else float("nan")


def show(rows):
    points = by_point(rows)
    names = list(dict.fromkeys(row["host"] for row in rows))
    own_ratios, best_ratios, short = [], [], []
    print("ranks collective bytes mode |" + "|".join(f" {n}: ours host ratio " for n in names) + "| best host / ours")
    for (ranks, collective, size, mode), own in points.items():
        best = min(statistics.median(sides["host"]) for sides in own.values())
        cells, where = [], f"{ranks} ranks {collective} {size} {mode}"
        for name in names:
            sides = own[name]
            ours, host = (statistics.median(sides[side]) for side in ("ours", "host"))
            over_own, over_best = ratio(sides), best / ours
            own_ratios.append(over_own)
            best_ratios.append(over_best)
            cells.append(f" {ours:.3f} {host:.3f} {over_own:.2f} ")
            if over_own < 0.97:
                short.append(f"{where}: {over_own:.2f} of {name}")
            if over_best < 0.95:
                short.append(f"{where}: over {name} {over_best:.2f} of the best host")
        limits = [f"{side} {statistics.median(us):.3f}" for sides in own.values() for side, us in sides.items()
                  if side in ("flags", "memcpy")]  # fmt: skip
        least_ours = min(statistics.median(sides["ours"]) for sides in own.values())
        limit = ", ".join(limits[:1])
        print(f"{ranks} {collective} {size} {mode} |{'|'.join(cells)}| {best / least_ours:.2f} | {limit}")
    lines = [row["line_ns"] for row in rows if row["line_ns"]]
    if lines:
        print(f"\na cache line took {min(lines):.0f} to {max(lines):.0f} ns, median {statistics.median(lines):.0f}")
    print(f"over the own host: geometric mean {geometric_mean(own_ratios):.2f}, least {min(own_ratios):.2f}")
    print(f"over the best host: geometric mean {geometric_mean(best_ratios):.2f}, least {min(best_ratios):.2f}")
    print(f"{len(short)} of {2 * len(own_ratios)} below the bars")
    print("\n".join(short))


def host_names(text):
    """Of hosts, and of those with coll_sm first."""
    hosts.host_names(text.replace("+sm", ""))
    return text


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--hosts", type=host_names, default=STANDARD)
    parser.add_argument("--ranks", default="2")
    parser.add_argument("--turns", type=int, default=9)
    parser.add_argument("--target-us", type=float, default=2000, help="of one sample")
    parser.add_argument("--largest", type=int, default=16 << 20)
    parser.add_argument("--kinds", default="bBra")
    parser.add_argument("--modes", default="h")
    parser.add_argument("--step", type=int, default=8, help="factor from one size to the next")
    parser.add_argument("--csv", type=pathlib.Path)
    options = parser.parse_args()
    rows = []
    for ranks in map(int, options.ranks.split(",")):
        for name in options.hosts.split(","):
            print(f"{name} on {ranks} ranks ...", file=sys.stderr)
            rows += measure(name, ranks, options)
    if options.csv:
        with options.csv.open("w", newline="") as file:
            writer = csv.DictWriter(file, FIELDS)
            writer.writeheader()
            writer.writerows(rows)
    show(rows)


if __name__ == "__main__":
    main()
