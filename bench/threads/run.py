"""Reductions by one and two threads against each host's own, in MPI_Reduce_local and MPI_Reduce; the overlap example.

    ./dev bench threads
    PYTHONPATH=tests/hosts bench/threads/run.py [--hosts openmpi4,mpich4] [--parts sweep,local,reduce,ops,overlap]
                                                [--turns 5] [--log2 28] [--csv FILE]

sweep    the C library, 64 KiB to 64 MiB: from which size a second thread pays
local    MPI_Reduce_local of 2^28 floats, ours by MILLRACE_THREADS=1 and 2 against PMPI_Reduce_local, in turns
reduce   MPI_Reduce of 2 ranks: the predefined op, ours with one thread and with two per rank, in turns
ops      MPI_Reduce of 2^28 floats on 2 ranks by MPI_SUM, a vectorised op of a user, one that makes tasks; alone, and
         under Millrace with one thread and with two
overlap  examples/overlap on 2 ranks with 2 threads each: more threads than two cores
"""

import argparse
import csv
import pathlib
import subprocess
import sys

import hosts

HERE = pathlib.Path(__file__).resolve().parent
OUT = hosts.BUILD / "bench" / "threads"
INCLUDES = [f"-I{hosts.ROOT}/include", f"-I{hosts.BUILD}/include"]
LIBRARY = [*INCLUDES, f"-L{hosts.BUILD / 'lib'}", f"-Wl,-rpath,{hosts.BUILD / 'lib'}", "-lmillrace"]
# Of the CSV file of one part alone.
FIELDS = {
    "ops": ("host", "part", "threads", "op", "median_ns", "low_ns", "high_ns"),
    "overlap": ("host", "part", "reduction_ms", "tasks_ms", "both_ms", "overlap"),
}
OPENMP = {"OMP_NUM_THREADS": "2", "OMP_MAX_TASK_PRIORITY": "1"}


def sweep(turns):
    program = OUT / "sweep"
    subprocess.run(["cc", "-O2", "-o", program, HERE / "sweep.c", *LIBRARY], check=True)
    done = subprocess.run([program, str(turns), "2", str(64 << 20)], capture_output=True, text=True, check=True)
    return [("library", "sweep", *line.split()) for line in done.stdout.splitlines()]


def local(host, turns, log2):
    program = hosts.compile(host, HERE / "reduce_local.c", OUT / host / "reduce_local")
    for threads in ("1", "2"):
        env = {"MILLRACE_THREADS": threads}
        done = hosts.run(host, 1, [program, turns, log2], millrace=True, env=env, timeout=400).check()
        yield (host, "local", threads, *done.stdout.split())


def reduce(host, turns):
    program = hosts.compile(host, HERE / "reduce.c", OUT / host / "reduce", flags=LIBRARY)
    done = hosts.run(host, 2, [program, turns, 2], timeout=400).check()
    return [(host, "reduce", *line.split()) for line in done.stdout.splitlines()]


def ops(host, turns, log2):
    """Threads are those of Millrace; 0: without it."""
    flags = ["-O3", "-march=native", "-fopenmp"]
    program = hosts.compile(host, HERE / "user_ops.c", OUT / host / "user_ops", flags=flags)
    waiting = {**OPENMP, "OMP_WAIT_POLICY": "passive"}
    for threads in (0, 1, 2):
        env = {**waiting, **({"MILLRACE_THREADS": threads} if threads else {})}
        done = hosts.run(host, 2, [program, log2, turns], millrace=threads > 0, env=env, timeout=400).check()
        yield from ((host, "ops", threads, *line.split()) for line in done.stdout.splitlines())


def overlap(host, turns):
    source = hosts.ROOT / "examples" / "overlap" / "overlap.c"
    program = hosts.compile(host, source, OUT / host / "overlap", flags=["-fopenmp", *LIBRARY])
    done = hosts.run(host, 2, [program, 64, 64, turns], env=OPENMP, timeout=400).check()
    values, right = done.stdout.splitlines()
    if right != "right":
        sys.exit(f"overlap on {host}: {right}")
    return [(host, "overlap", *values.split()[1::2])]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--hosts", type=hosts.host_names, default="openmpi4,openmpi5,mpich4,mpich5,intel")
    parser.add_argument("--parts", default="sweep,local,reduce,overlap")
    parser.add_argument("--turns", type=int, default=5)
    parser.add_argument("--log2", type=int, default=28)
    parser.add_argument("--csv", type=pathlib.Path, default=OUT / "threads.csv")
    arguments = parser.parse_args()
    OUT.mkdir(parents=True, exist_ok=True)
    parts = arguments.parts.split(",")
    rows = []

    def take(found):
        for row in found:
            rows.append(row)
            print(*row, flush=True)

    if "sweep" in parts:
        take(sweep(arguments.turns))
    for host in arguments.hosts.split(","):
        if missing := hosts.get(host).missing():
            print(f"{host}: {missing}", file=sys.stderr)
            continue
        if "local" in parts:
            take(local(host, arguments.turns, arguments.log2))
        if "reduce" in parts:
            take(reduce(host, arguments.turns))
        if "ops" in parts:
            take(ops(host, arguments.turns, arguments.log2))
        if "overlap" in parts:
            take(overlap(host, arguments.turns))
    with arguments.csv.open("w", newline="") as file:
        if len(parts) == 1 and parts[0] in FIELDS:
            csv.writer(file).writerow(FIELDS[parts[0]])
        csv.writer(file).writerows(rows)


if __name__ == "__main__":
    main()
