"""Where an op of ours makes a host's own Allreduce faster than the predefined op: the table behind src/plan.

    ./dev bench op_substitution
    PYTHONPATH=tests/hosts bench/op_substitution/run.py [--hosts openmpi4,openmpi5] [--turns 15] [--csv FILE]

Two ranks, no Millrace: both ops in turns within one process, each turn about 4 ms, the median of the ratio
host / ours by turn, with its quartiles. Prints, per host and class of op, the least size from which the ratio is at
least 1 at every size above: the threshold for src/plan/op_substitution.cpp.
"""

import argparse
import csv
import pathlib
import subprocess
import sys

import hosts

HERE = pathlib.Path(__file__).resolve().parent
OUT = hosts.BUILD / "bench" / "op_substitution"
FIELDS = ("host", "what", "bytes", "host_ns", "ours_ns", "ratio", "low", "high", "cache_line_ns")


def cache_line_ns():
    """One-way time of a cache line between the cores, measured beside each host."""
    program = OUT / "cache_line"
    subprocess.run(["cc", "-O2", "-pthread", "-o", program, HERE.parent / "overhead" / "cache_line.c"], check=True)
    done = subprocess.run([program], capture_output=True, text=True, timeout=60)
    return float(done.stdout) if done.returncode == 0 else float("nan")


def measure(name, turns):
    library = hosts.BUILD / "lib"
    flags = [f"-I{hosts.ROOT}/include", f"-L{library}", f"-Wl,-rpath,{library}", "-lmillrace"]
    program = hosts.compile(name, HERE / "alternate.c", OUT / name / "alternate", flags=flags)
    before = cache_line_ns()
    finished = hosts.run(name, 2, [program, turns], timeout=900, bind=True).check()
    for line in finished.stdout.splitlines():
        what, *numbers = line.split()
        yield dict(zip(FIELDS, (name, what, int(numbers[0]), *map(float, numbers[1:]), before), strict=True))


def thresholds(rows):
    """(host, class) -> least bytes from which no ratio is below 1, or None."""
    found = {}
    for key in dict.fromkeys((row["host"], row["what"].split(".")[0]) for row in rows):
        own = [row for row in rows if (row["host"], row["what"].split(".")[0]) == key]
        sizes = sorted({row["bytes"] for row in own})
        good = None
        for size in reversed(sizes):
            if min(row["ratio"] for row in own if row["bytes"] == size) < 1:
                break
            good = size
        found[key] = good
    return found


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--hosts", default="openmpi4,openmpi5,mpich4,mpich5,intel")
    parser.add_argument("--turns", type=int, default=15)
    parser.add_argument("--csv", type=pathlib.Path, default=OUT / "op_substitution.csv")
    arguments = parser.parse_args()
    OUT.mkdir(parents=True, exist_ok=True)
    rows = []
    for name in arguments.hosts.split(","):
        for row in measure(name, arguments.turns):
            rows.append(row)
            print("{host:9} {what:28} {bytes:9} {host_ns:12.0f} {ours_ns:12.0f} {ratio:6.2f}".format(**row), flush=True)
    with arguments.csv.open("w", newline="") as file:
        writer = csv.DictWriter(file, FIELDS)
        writer.writeheader()
        writer.writerows(rows)
    print("\nhost      class                 from bytes")
    for (name, op_class), size in thresholds(rows).items():
        print(f"{name:9} {op_class:20} {size if size else 'never'}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
