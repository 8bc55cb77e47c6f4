"""An op of ours inside a host's own Allreduce: the table behind src/plan, and whether what follows from it is no loss.

    ./dev bench op_substitution
    PYTHONPATH=tests/hosts bench/op_substitution/run.py [--hosts openmpi4,...] [--modes auto,always] [--turns 15]

Two ranks under Millrace, our own collectives off, MPI_Allreduce (ours) and PMPI_Allreduce (the host's) in turns within
one process; see alternate.c. `auto` is what users get: no ratio may be below 1 but for noise. `always` (hosts that
permit substitution) shows what the table would decide: prints, per class of op, the least size from which no ratio is
below 1.
"""

import argparse
import csv
import pathlib
import subprocess
import sys

import hosts

HERE = pathlib.Path(__file__).resolve().parent
OUT = hosts.BUILD / "bench" / "op_substitution"
FIELDS = ("host", "mode", "what", "bytes", "turns", "host_ns", "ours_ns", "ratio", "low", "high", "cache_line_ns")
SUBSTITUTING = ("openmpi4", "openmpi5")  # elsewhere `always` changes nothing: see src/shim/reduce/op_substitution.cpp


def cache_line_ns():
    """One-way time of a cache line between the cores, measured beside each host."""
    program = OUT / "cache_line"
    subprocess.run(["cc", "-O2", "-pthread", "-o", program, HERE.parent / "overhead" / "cache_line.c"], check=True)
    done = subprocess.run([program], capture_output=True, text=True, timeout=60)
    return float(done.stdout) if done.returncode == 0 else float("nan")


def measure(name, mode, turns):
    program = hosts.compile(name, HERE / "alternate.c", OUT / name / "alternate")
    before = cache_line_ns()
    # Ours in shared memory would take the call before the question comes up.
    settings = {"MILLRACE_SUBSTITUTE": mode, "MILLRACE_COLLECTIVES": "never"}
    finished = hosts.run(name, 2, [program, turns], millrace=True, env=settings, timeout=900, bind=True).check()
    for line in finished.stdout.splitlines():
        what, size, rounds, *numbers = line.split()
        values = (name, mode, what, int(size), int(rounds), *map(float, numbers), before)
        yield dict(zip(FIELDS, values, strict=True))


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
    parser.add_argument("--hosts", type=hosts.host_names, default="openmpi4,openmpi5,mpich4,mpich5,intel")
    parser.add_argument("--modes", default="auto,always")
    parser.add_argument("--turns", type=int, default=15)
    parser.add_argument("--csv", type=pathlib.Path, default=OUT / "op_substitution.csv")
    arguments = parser.parse_args()
    OUT.mkdir(parents=True, exist_ok=True)
    rows = []
    line = "{host:9} {mode:6} {what:28} {bytes:9} {host_ns:12.0f} {ours_ns:12.0f} {ratio:6.2f} ({low:.2f}-{high:.2f})"
    for name in arguments.hosts.split(","):
        for mode in arguments.modes.split(","):
            if mode == "always" and name not in SUBSTITUTING:
                continue
            for row in measure(name, mode, arguments.turns):
                rows.append(row)
                print(line.format(**row), flush=True)
    with arguments.csv.open("w", newline="") as file:
        writer = csv.DictWriter(file, FIELDS)
        writer.writeheader()
        writer.writerows(rows)
    print("\nhost      class                 from bytes")
    for (name, op_class), size in thresholds([row for row in rows if row["mode"] == "always"]).items():
        print(f"{name:9} {op_class:20} {size if size else 'never'}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
