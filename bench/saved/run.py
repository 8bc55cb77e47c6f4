"""What the report says was saved, beside what a whole run took less: applications from Debian, and the examples.

    ./dev setup full && ./dev bench saved
    PYTHONPATH=tests/hosts bench/saved/run.py [--only NAME,...] [--ranks 2] [--turns 11] [--reports 3] [--csv FILE]

Runs with and without Millrace take turns; `gained` is the median over turns of their difference with the interval that
holds it with 95 %, of the whole run, the launcher's start and our own included. `saved` is the report's sum over ranks
divided by their number, and its own standard error, of a run for each of --reports: it counts only calls that were
taken and of which the job has measured the host's time. Honest is a `saved` inside the interval, or below it.
"""

import argparse
import csv
import json
import pathlib
import shutil
import statistics
import sys
import tempfile
import time

import hosts

sys.path[:0] = [str(hosts.ROOT / folder) for folder in ("bench", "tests/apps", "tests/examples")]
import example_programs  # noqa: E402
import programs  # noqa: E402
from medians import interval  # noqa: E402

HOST = "openmpi4"
EXAMPLES = {
    "stencil": "stencil --size 1000 --total --grid 1x2 --radius 2 --iterations 1500",
    "fft2d": "fft2d --size 512 --iterations 150",
    "particles": "particles --count 20000 --iterations 150 --alltoallv",
}


def commands():
    for name, application in programs.APPLICATIONS.items():
        yield name, application.command, application.inputs
    for name, words in EXAMPLES.items():
        program, *rest = words.split()
        yield name, (example_programs.build(HOST, program), *rest), ()


def run_s(command, inputs, ranks, report=None, millrace=True):
    with tempfile.TemporaryDirectory() as directory:
        for path in inputs:
            shutil.copy(path, directory)
        begin = time.perf_counter()
        hosts.run(
            HOST, ranks, command, millrace=millrace, env={"MILLRACE_REPORT": report} if report else None,
            timeout=300, directory=pathlib.Path(directory),
        ).check()  # fmt: skip
        return time.perf_counter() - begin


def saved(command, inputs, ranks):
    """(ms a rank, its standard error, calls of which the host's time is known, calls that were taken)"""
    with tempfile.TemporaryDirectory() as directory:
        path = pathlib.Path(directory) / "report.json"
        run_s(command, inputs, ranks, path)
        total = json.loads(path.read_text())["total"]
    each = 1e6 * ranks
    return total["saved"]["time_ns"] / each, total["saved"]["error_ns"] / each, total["saved"]["calls"], total["taken"]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only")
    parser.add_argument("--ranks", type=int, default=2)
    parser.add_argument("--turns", type=int, default=11)
    parser.add_argument("--reports", type=int, default=3)
    parser.add_argument("--csv", type=pathlib.Path)
    options = parser.parse_args()
    print("| program | alone s | gained ms | saved by the report, ms | calls known of taken |\n|---|---|---|---|---|")
    rows = []
    for name, command, inputs in commands():
        if options.only and name not in options.only.split(","):
            continue
        turns = []
        for turn in range(options.turns):
            sides = {}
            for millrace in (False, True) if turn % 2 else (True, False):
                sides[millrace] = run_s(command, inputs, options.ranks, millrace=millrace)
            turns.append((sides[False], sides[True]))
            rows.append((name, options.ranks, turn, *turns[-1]))
        gained = [1e3 * (alone - ours) for alone, ours in turns]
        reports = [saved(command, inputs, options.ranks) for _ in range(options.reports)]
        low, high = interval(gained)
        texts = [f"{value:.1f} ± {error:.1f}" for value, error, *_ in reports]
        print(f"| {name} | {statistics.median(alone for alone, _ in turns):.2f} | "
              f"{statistics.median(gained):.0f} ({low:.0f} to {high:.0f}) | {', '.join(texts)} | "
              f"{reports[-1][2]} of {reports[-1][3]} |", flush=True)  # fmt: skip
    if options.csv:
        with options.csv.open("w", newline="") as file:
            writer = csv.writer(file)
            writer.writerow(("program", "ranks", "turn", "alone_s", "millrace_s"))
            writer.writerows(rows)


if __name__ == "__main__":
    main()
