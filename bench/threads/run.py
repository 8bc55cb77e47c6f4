"""Reductions by one and two threads against each host's own, in MPI_Reduce_local and MPI_Reduce; the overlap example.

    ./dev bench threads
    PYTHONPATH=tests/hosts bench/threads/run.py [--hosts openmpi4,mpich4] [--parts sweep,local,reduce,overlap]
                                                [--turns 5] [--log2 28] [--csv FILE]

sweep    the C library, 64 KiB to 64 MiB: from which size a second thread pays
local    MPI_Reduce_local of 2^28 floats, ours by MILLRACE_THREADS=1 and 2 against PMPI_Reduce_local, in turns
reduce   MPI_Reduce of 2 ranks: the predefined op, ours with one thread and with two per rank, in turns
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


def overlap(host, turns):
    source = hosts.ROOT / "examples" / "overlap" / "overlap.c"
    program = hosts.compile(host, source, OUT / host / "overlap", flags=["-fopenmp", *LIBRARY])
    done = hosts.run(host, 2, [program, 64, 64, turns], env=OPENMP, timeout=400).check()
    return [(host, "overlap", *done.stdout.splitlines()[0].split())]


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
        if "overlap" in parts:
            take(overlap(host, arguments.turns))
    with arguments.csv.open("w", newline="") as file:
        csv.writer(file).writerows(rows)


if __name__ == "__main__":
    main()
