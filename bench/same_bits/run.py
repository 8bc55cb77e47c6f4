"""Whether sums of doubles are the same bits from run to run, with ranks that come late by chance.

    PYTHONPATH=tests/hosts bench/same_bits/run.py [--hosts openmpi4,mpich5] [--ranks 3] [--runs 500] [--calls 600]

Runs of tests/shim/programs/measured_calls.c, which differ in nothing but in when their ranks are late: half of them
with what is measured in the job, half with a table that was learned before, and by turns so. Each way must have one
digest on all ranks of all runs, and no value that is not what was to come.
"""

import argparse
import collections
import pathlib
import sys
import tempfile

import hosts

HERE = pathlib.Path(__file__).resolve().parent
PROGRAM = hosts.ROOT / "tests" / "shim" / "programs" / "measured_calls.c"
OUT = hosts.BUILD / "bench" / "same_bits"
SEED = 77


def digests(host, options, late, env):
    """What the ranks print, each by its place, without what they were called."""
    line = [OUT / host / "measured_calls", SEED, options.calls, late]
    finished = hosts.run(host, options.ranks, line, millrace=True, env=env, timeout=120)
    lines = sorted(finished.check().stdout.splitlines())
    if len(lines) != options.ranks or any(" 0 wrong, " not in line for line in lines):
        sys.exit(f"{host}, late {late}: {lines}")
    return tuple(lines)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--hosts", type=hosts.host_names, default=",".join(hosts.HOSTS))
    parser.add_argument("--ranks", type=int, default=3)
    parser.add_argument("--runs", type=int, default=500, help="each way")
    parser.add_argument("--calls", type=int, default=600)
    options = parser.parse_args()
    print("| host | ranks | way | runs | calls a rank | different digests |\n|---|---|---|---|---|---|")
    worst = 1
    for host in options.hosts.split(","):
        hosts.compile(host, PROGRAM, OUT / host / "measured_calls", flags=["-O2"])
        with tempfile.TemporaryDirectory() as directory:
            table = pathlib.Path(directory) / "learned.json"
            for late in range(3):
                digests(host, options, 10**6 + late, {"MILLRACE_LEARN": table})
            ways = {
                "measured": {"MILLRACE_MEASURE": "always"},
                "learned": {"MILLRACE_TUNING": table, "MILLRACE_MEASURE": "auto"},
            }
            seen = collections.defaultdict(set)
            for run in range(options.runs):
                for way, env in ways.items():
                    seen[way].add(digests(host, options, 1 + run, env))
        for way in ways:
            row = (host, options.ranks, way, options.runs, options.calls, len(seen[way]))
            print("|", " | ".join(str(cell) for cell in row), "|", flush=True)
            worst = max(worst, len(seen[way]))
    return 0 if worst == 1 else 1


if __name__ == "__main__":
    sys.exit(main())
