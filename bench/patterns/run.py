"""The access patterns that the literature on derived datatypes uses: Millrace, the host, and a loop by hand.

    ./dev bench patterns
    PYTHONPATH=tests/hosts bench/patterns/run.py [--hosts ...] [--turns 7] [--scales 32,128] [--layouts auto]

Two ranks, the three in turns within one process (patterns.cpp). Ratios are host / Millrace and hand / Millrace: above 1
Millrace is faster. The patterns are described in T. Schneider, R. Gerstenberger, T. Hoefler, "Micro-applications for
communication data access patterns and MPI datatypes" (EuroMPI 2012); sizes and index lists are ours.
"""

import argparse
import csv
import math
import pathlib
import signal
import sys

import hosts

HERE = pathlib.Path(__file__).resolve().parent
OUT = hosts.BUILD / "bench" / "patterns"
FLAGS = ["-std=c++20", "-O3", "-march=native", "-DOMPI_SKIP_MPICXX", HERE / "grids.cpp", HERE / "lists.cpp"]
FIELDS = ("name", "form", "bytes", "ours_ns", "host_ns", "hand_ns", "ratio", "low", "high")


def measure(host, arguments):
    program = hosts.compile(host, HERE / "patterns.cpp", OUT / host / "patterns", flags=FLAGS)
    command = [program, arguments.turns, arguments.turn_ms, *arguments.scales.split(",")]
    finished = hosts.run(
        host, 2, command, millrace=True, env={"MILLRACE_LAYOUTS": arguments.layouts}, timeout=600, bind=True
    ).check()
    for line in finished.stdout.splitlines():
        name, form, *numbers = line.split()
        row = dict(zip(FIELDS, [name, form, int(numbers[0]), *map(float, numbers[1:])], strict=True))
        yield {"host": host, **row, "hand_ratio": round(row["hand_ns"] / row["ours_ns"], 3)}


def geometric_mean(values):
    return math.exp(sum(map(math.log, values)) / len(values)) if values else float("nan")


def table(rows, form):
    """One line per pattern and size: host / Millrace (hand / Millrace) of each host."""
    names = list(dict.fromkeys(row["host"] for row in rows))
    rows = [row for row in rows if row["form"] == form]
    cells = {(row["name"], row["bytes"], row["host"]): f"{row['ratio']:.2f} ({row['hand_ratio']:.2f})" for row in rows}
    yield f"| {form} | bytes | {' | '.join(names)} |"
    yield "|---" * (2 + len(names)) + "|"
    for name, size in dict.fromkeys((row["name"], row["bytes"]) for row in rows):
        yield f"| {name} | {size} | {' | '.join(cells.get((name, size, host), '') for host in names)} |"
    means = [geometric_mean([row["ratio"] for row in rows if row["host"] == host]) for host in names]
    hands = [geometric_mean([row["hand_ratio"] for row in rows if row["host"] == host]) for host in names]
    yield f"| geometric mean | | {' | '.join(f'{m:.2f} ({h:.2f})' for m, h in zip(means, hands, strict=True))} |"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--hosts", type=hosts.host_names, default="openmpi4,openmpi5,mpich4,mpich5,intel")
    parser.add_argument("--turns", type=int, default=7)
    parser.add_argument("--turn-ms", type=float, default=1.0)
    parser.add_argument("--scales", default="32,128")
    parser.add_argument("--layouts", default="auto", help="MILLRACE_LAYOUTS")
    parser.add_argument("--csv", type=pathlib.Path, default=OUT / "patterns.csv")
    arguments = parser.parse_args()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # so that hosts.run ends the ranks of what is running
    arguments.csv.parent.mkdir(parents=True, exist_ok=True)
    rows = []
    with arguments.csv.open("w", newline="") as file:
        writer = csv.DictWriter(file, ("host", *FIELDS, "hand_ratio"))
        writer.writeheader()
        for host in arguments.hosts.split(","):
            new = list(measure(host, arguments))
            writer.writerows(new)
            file.flush()
            rows += new
    for form in ("pack", "unpack", "pingpong"):
        print("\n".join(table(rows, form)), end="\n\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
