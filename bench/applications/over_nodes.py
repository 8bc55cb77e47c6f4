"""Applications from Debian on nodes that are network namespaces, with and without Millrace, in turns.

    ./dev setup full
    PYTHONPATH=tests/hosts bench/applications/over_nodes.py [--only NAME,...] [--nodes 2] [--ranks 4] [--turns 5]

Says whether all runs had the same results, the ratio of whole runs (the launcher's start included), and the time that
a rank spends inside MPI, mean over ranks, of one run each with a report; "without" has all of Millrace's algorithms
switched off.
"""

import argparse
import json
import pathlib
import shutil
import statistics
import sys
import tempfile
import time

import hosts
import nodes

sys.path[:0] = [str(hosts.ROOT / folder) for folder in ("bench", "tests/apps")]
import programs  # noqa: E402
from medians import interval  # noqa: E402

HOST = "openmpi4"
OFF = {"MILLRACE_LAYOUTS": "never", "MILLRACE_COLLECTIVES": "never", "MILLRACE_SUBSTITUTE": "never"}


def run(made, application, ranks, millrace, env=None):
    """(the lines that must be the same, seconds, the reports of the nodes)"""
    with tempfile.TemporaryDirectory() as name:
        directory = pathlib.Path(name)
        for path in application.inputs:
            shutil.copy(path, directory)
        report = {"MILLRACE_REPORT": directory / "report.json"} if env is not None else {}
        begin = time.perf_counter()
        finished = made.run(
            HOST, ranks // len(made.names), application.command, millrace, {**(env or {}), **report},
            application.timeout, directory=directory,
        ).check()  # fmt: skip
        elapsed_s = time.perf_counter() - begin
        reports = [json.loads(path.read_text()) for path in sorted(directory.glob("report.*.json"))]
        return application.results(directory, finished.stdout), elapsed_s, reports


def inside_mpi_s(reports, ranks):
    return sum(call["time_ns"] for report in reports for call in report["calls"]) / ranks / 1e9


def taken_over_nodes(reports):
    counts = {}
    for call in (call for report in reports for call in report["calls"]):
        for algorithm in call["algorithms"]:
            if algorithm["name"].startswith("nodes_"):
                counts[call["name"]] = counts.get(call["name"], 0) + algorithm["calls"]
    return ", ".join(f"{count} {name.removeprefix('MPI_')}" for name, count in counts.items()) or "nothing"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", default=",".join(programs.APPLICATIONS))
    parser.add_argument("--nodes", type=int, default=2)
    parser.add_argument("--ranks", type=int, default=4, help="of all nodes")
    parser.add_argument("--turns", type=int, default=5)
    options = parser.parse_args()
    print("| program | results | alone s | ratio | inside MPI s, without | with | over nodes, calls of all ranks |")
    print("|---" * 7 + "|")
    with nodes.Nodes(options.nodes) as made:
        for name in options.only.split(","):
            application = programs.APPLICATIONS[name]
            results, times = [], {False: [], True: []}
            for turn in range(options.turns):
                for millrace in (False, True) if turn % 2 else (True, False):
                    lines, elapsed_s, _ = run(made, application, options.ranks, millrace)
                    results.append(lines)
                    times[millrace].append(elapsed_s)
            inside = {}
            for side, env in (("without", OFF), ("with", {})):
                lines, _, reports = run(made, application, options.ranks, True, env)
                results.append(lines)
                inside[side] = inside_mpi_s(reports, options.ranks)
            ratios = [alone / ours for alone, ours in zip(times[False], times[True], strict=True)]
            low, high = interval(ratios)
            same = len(results[0]) > 10 and all(lines == results[0] for lines in results)
            print(f"| {name} | {'the same' if same else 'DIFFER'} | {statistics.median(times[False]):.2f} | "
                  f"{statistics.median(ratios):.2f} ({low:.2f} to {high:.2f}) | {inside['without']:.2f} | "
                  f"{inside['with']:.2f} | {taken_over_nodes(reports)} |", flush=True)  # fmt: skip


if __name__ == "__main__":
    main()
