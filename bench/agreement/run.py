"""What it costs a short program that ranks agree to share memory: with MILLRACE_COLLECTIVES=auto beside never.

    ./dev bench agreement
    PYTHONPATH=tests/hosts bench/agreement/run.py [--hosts ...] [--ranks 2,4,16] [--turns 21] [--csv FILE]

Each program works for about 0.1 s and calls MPI in between; the sides alternate, one process group each. Shown are
medians of the milliseconds between MPI_Init and MPI_Finalize, and of both together with what is between, and of ours /
never by turn with the interval that holds it with 95 %. `never` has our preload without any agreement; `alone` is the
program without us.
"""

import argparse
import csv
import os
import pathlib
import statistics
import sys

import hosts

sys.path.insert(0, str(hosts.ROOT / "bench"))
from medians import interval  # noqa: E402

HERE = pathlib.Path(__file__).resolve().parent
OUT = hosts.BUILD / "bench" / "agreement"
KINDS = {"world": 40, "many": 60, "late": 40}  # and the number of calls
SIDES = {"alone": None, "never": "never", "auto": "auto"}
WHOLE_US = 100_000
MOST = 1.02


def sample(name, ranks, kind, side):
    """(between, whole) in ms"""
    calls = KINDS[kind]
    compute_us = WHOLE_US / calls / max(1, ranks / os.cpu_count())
    env = {"MILLRACE_COLLECTIVES": SIDES[side]} if SIDES[side] else {}
    words = [OUT / name / "short", kind, calls, round(compute_us)]
    finished = hosts.run(name, ranks, words, millrace=side != "alone", env=env, timeout=120).check()
    between, whole, wrong = finished.stdout.split()
    if wrong != "0":
        raise SystemExit(f"{name}, {ranks} ranks, {kind}, {side}: {wrong} wrong results")
    return float(between), float(whole)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--hosts", type=hosts.host_names, default=",".join(hosts.HOSTS))
    parser.add_argument("--ranks", default="2,4,16")
    parser.add_argument("--kinds", default=",".join(KINDS))
    parser.add_argument("--turns", type=int, default=21)
    parser.add_argument("--csv", type=pathlib.Path)
    options = parser.parse_args()
    rows, missed = [], []
    for name in options.hosts.split(","):
        hosts.compile(name, HERE / "short.c", OUT / name / "short")
        for ranks in map(int, options.ranks.split(",")):
            for kind in options.kinds.split(","):
                times = {side: [] for side in SIDES}
                for turn in range(options.turns):
                    for side, list_of in sorted(times.items(), reverse=turn % 2 == 1):
                        list_of.append(sample(name, ranks, kind, side))
                        rows.append([name, ranks, kind, side, turn, *list_of[-1]])
                medians = {side: [statistics.median(column) for column in zip(*list_of, strict=True)]
                           for side, list_of in times.items()}  # fmt: skip
                words = "; ".join(f"{side} {between:.1f} of {whole:.1f} ms"
                                  for side, (between, whole) in medians.items())  # fmt: skip
                for column, what in enumerate(("between", "whole")):
                    ratios = [ours[column] / never[column]
                              for ours, never in zip(times["auto"], times["never"], strict=True)]  # fmt: skip
                    low, high = interval(ratios)
                    ratio = statistics.median(ratios)
                    words += f"; {what} {ratio:.3f} ({low:.3f} to {high:.3f})"
                    if ratio > MOST:
                        missed.append(f"{name}, {ranks} ranks, {kind}, {what}: {ratio:.3f} ({low:.3f} to {high:.3f})")
                print(f"{name}, {ranks} ranks, {kind}: {words}", flush=True)
    if options.csv:
        with options.csv.open("w", newline="") as file:
            csv.writer(file).writerows([["host", "ranks", "kind", "side", "turn", "between_ms", "whole_ms"], *rows])
    print(f"\n{len(missed)} points above {MOST:g}:")
    print("\n".join(missed))


if __name__ == "__main__":
    main()
