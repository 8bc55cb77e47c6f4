"""LAMMPS, granular chute flow: the time of its loop by the vectors that reductions may use, the host's and Millrace's.

    ./dev bench lammps
    PYTHONPATH=tests/hosts bench/lammps/run.py [--ranks 2] [--turns 5] [--steps 40000] [--csv FILE]

Debian's LAMMPS on Open MPI 4, which can be told which vectors its reductions use (op_avx_support). All sides in turns,
in alternating order; medians and quartiles. Also what Millrace's report says of a run of its own: the share of the time
inside MPI, and the bytes of an MPI_Allreduce. Needs ./dev setup demo.
"""

import argparse
import csv
import json
import pathlib
import re
import statistics
import sys

import hosts

OUT = hosts.BUILD / "bench" / "lammps"
CHUTE = hosts.ROOT / "examples" / "demo" / "chute.in"
SCRIPT = OUT / "chute.in"
COMMAND = ("/usr/bin/lmp", "-in", SCRIPT, "-log", "none", "-nocite")
# What Open MPI's op_avx_support takes: bits of SSE to SSE4.1, AVX, AVX2, AVX512F and AVX512BW.
LEVELS = {
    "no vectors": ({"OMPI_MCA_op": "^avx"}, {"MILLRACE_ISA": "scalar"}),
    "AVX": ({"OMPI_MCA_op_avx_support": 0x1F}, {"MILLRACE_ISA": "sse42"}),
    "AVX2": ({"OMPI_MCA_op_avx_support": 0x3F}, {"MILLRACE_ISA": "avx2"}),
    "AVX-512": ({}, {}),
}
FIELDS = ("side", "level", "loop_s", "low_s", "high_s", "atoms", "steps", "mpi_share", "allreduce_bytes")
LOOP = re.compile(r"^Loop time of (\S+) on \d+ procs for (\d+) steps with (\d+) atoms", re.MULTILINE)


def loop(ranks, millrace, env):
    """(seconds of the loop, steps, atoms)"""
    bind = ranks <= 2
    finished = hosts.run("openmpi4", ranks, COMMAND, millrace=millrace, env=env, timeout=300, bind=bind).check()
    seconds, steps, atoms = LOOP.search(finished.stdout).groups()
    return float(seconds), int(steps), int(atoms)


def from_report(ranks):
    """(share of the time inside MPI, mean bytes of an MPI_Allreduce)"""
    path = OUT / "report.json"
    path.unlink(missing_ok=True)
    loop(ranks, True, {"MILLRACE_REPORT": path})
    report = json.loads(path.read_text())
    reduced = next(call for call in report["calls"] if call["name"] == "MPI_Allreduce")
    return report["mpi_share"]["median"], reduced["bytes"] / reduced["calls"]


def measure(ranks, turns):
    sides = [(side, level) for level in LEVELS for side in (False, True)]
    times, facts = {side: [] for side in sides}, None
    for turn in range(turns):
        for millrace, level in sides if turn % 2 == 0 else sides[::-1]:
            seconds, *facts = loop(ranks, millrace, LEVELS[level][millrace])
            times[millrace, level].append(seconds)
    share, reduced_bytes = from_report(ranks)
    for (millrace, level), own in times.items():
        low, high = statistics.quantiles(own, n=4)[::2] if len(own) > 1 else own * 2
        times = (statistics.median(own), low, high)
        numbers = (*times, facts[1], facts[0], round(share, 3), round(reduced_bytes, 1))
        yield dict(zip(FIELDS, ("Millrace" if millrace else "host", level, *numbers), strict=True))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--ranks", type=int, default=2)
    parser.add_argument("--turns", type=int, default=5)
    parser.add_argument("--steps", type=int, default=40000)
    parser.add_argument("--csv", type=pathlib.Path, default=OUT / "lammps.csv")
    arguments = parser.parse_args()
    OUT.mkdir(parents=True, exist_ok=True)
    SCRIPT.write_text(re.sub(r"^run .*$", f"run {arguments.steps}", CHUTE.read_text(), flags=re.MULTILINE))
    rows = list(measure(arguments.ranks, arguments.turns))
    with arguments.csv.open("w", newline="") as file:
        writer = csv.DictWriter(file, FIELDS)
        writer.writeheader()
        writer.writerows(rows)
    for row in rows:
        print(*row.values())
    return 0


if __name__ == "__main__":
    sys.exit(main())
