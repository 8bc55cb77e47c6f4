"""Whole runs of the examples with and without Millrace, in turns, on every host.

    ./dev bench applications
    PYTHONPATH=tests/hosts bench/applications/run.py [--hosts ...] [--ranks 2,16] [--only CASE,...] [--turns 5]
                                                     [--command "stencil --size 100" ...] [--csv FILE]

Each turn is one run without and one with Millrace, in alternating order; times are of one iteration, medians over the
turns. Then one run each with a report tells how much of it is inside MPI; the one "without" has all of Millrace's
algorithms switched off. With more ranks than cores a run's time is the mean over its iterations, else their median.
"""

import argparse
import csv
import json
import os
import pathlib
import signal
import statistics
import sys
import uuid

import hosts

sys.path.insert(0, str(hosts.ROOT / "tests" / "examples"))
from example_programs import FLAGS, build, results  # noqa: E402

OUT = hosts.BUILD / "bench" / "applications"
OFF = {"MILLRACE_LAYOUTS": "never", "MILLRACE_COLLECTIVES": "never", "MILLRACE_SUBSTITUTE": "never"}
# name: (arguments for few ranks and many iterations, arguments for more ranks than cores: few iterations)
CASES = {
    "stencil isend": (
        "stencil --size 1000 --total --grid 1x2 --radius 2 --iterations 600",
        "stencil --size 1000 --total --grid 2x8 --radius 2 --iterations 1000",
    ),
    "stencil neighbor": (
        "stencil --size 1000 --total --grid 1x2 --radius 2 --iterations 600 --neighbor",
        "stencil --size 1000 --total --grid 2x8 --radius 2 --iterations 1000 --neighbor",
    ),
    "fft2d": ("fft2d --size 512 --iterations 30", "fft2d --size 512 --iterations 60"),
    "halo3d": ("halo3d --size 64 --iterations 300", "halo3d --size 32 --iterations 300"),
    "particles isend": ("particles --count 20000 --iterations 60", "particles --count 5000 --iterations 200"),
    "particles alltoallv": (
        "particles --count 20000 --iterations 30 --alltoallv",
        "particles --count 5000 --iterations 100 --alltoallv",
    ),
}
FIELDS = (
    "host", "case", "ranks", "alone_us", "ours_us", "ratio", "low", "high",
    "alone_inside_us", "ours_inside_us", "alone_share", "ours_share", "taken", "forwarded_why",
)  # fmt: skip


def inside(host, ranks, command, iterations, environment):
    """Of one run: microseconds inside MPI per iteration, share of the wall time, what was taken, why not."""
    path = OUT / f"report-{uuid.uuid4().hex}.json"
    path.parent.mkdir(parents=True, exist_ok=True)
    try:
        settings = {"MILLRACE_REPORT": path, **environment}
        hosts.run(host, ranks, command, millrace=True, env=settings, bind=ranks <= os.cpu_count()).check()
        report = json.loads(path.read_text())
    finally:
        path.unlink(missing_ok=True)
    taken = {call["name"]: call["taken"] / call["calls"] for call in report["calls"] if call["taken"]}
    why = {}
    for call in report["calls"]:
        for reason, count in call["forwarded_why"].items():
            if reason != "not_accelerated":
                why[reason] = why.get(reason, 0) + count
    share = report["mpi_share"]["median"]
    return report["mpi_ns"]["median"] / 1e3 / iterations, share, taken, why


def quartiles(values):
    return statistics.quantiles(values, n=4)[::2] if len(values) > 1 else [values[0]] * 2


def measure(host, case, ranks, turns):
    name, *options = CASES[case][ranks > os.cpu_count()].split()
    program = build(host, name, OUT / host / name, flags=[*FLAGS, "-march=native"])
    command, bind = [program, *options], ranks <= os.cpu_count()
    iterations = int(options[options.index("--iterations") + 1])
    key = "median_us" if bind else "mean_us"
    times = {False: [], True: []}
    for turn in range(turns):
        for millrace in (turn % 2 == 0, turn % 2 == 1):
            line = results(hosts.run(host, ranks, command, millrace=millrace, bind=bind))
            times[millrace].append(float(line[key]))
    ratios = [alone / ours for alone, ours in zip(times[False], times[True], strict=True)]
    low, high = quartiles(ratios)
    alone_inside, alone_share, _, _ = inside(host, ranks, command, iterations, OFF)
    ours_inside, ours_share, taken, why = inside(host, ranks, command, iterations, {})
    numbers = [statistics.median(times[False]), statistics.median(times[True]), statistics.median(ratios), low, high]
    numbers += [alone_inside, ours_inside, alone_share, ours_share]
    words = [" ".join(f"{name}={share:.2f}" for name, share in taken.items())]
    words += [" ".join(f"{reason}={count}" for reason, count in why.items())]
    return dict(zip(FIELDS, [host, case, ranks, *(round(x, 3) for x in numbers), *words], strict=True))


def table(rows):
    yield "| ranks | program | host | without, us | with, us | ratio | quartiles | inside MPI without | with | taken |"
    yield "|---" * 10 + "|"
    for row in rows:
        yield (
            f"| {row['ranks']} | {row['case']} | {row['host']} | {row['alone_us']:.0f} | {row['ours_us']:.0f} |"
            f" {row['ratio']:.2f} | {row['low']:.2f} to {row['high']:.2f} | {row['alone_share']:.0%} |"
            f" {row['ours_share']:.0%} | {row['taken'].replace('MPI_', '')} |"
        )


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--hosts", type=hosts.host_names, default="openmpi4,openmpi5,mpich4,mpich5,intel")
    parser.add_argument("--ranks", default="2,16")
    parser.add_argument("--only", default=",".join(CASES))
    parser.add_argument("--command", action="append", default=[], help="instead of the cases: an example and its words")
    parser.add_argument("--turns", type=int, default=5)
    parser.add_argument("--csv", type=pathlib.Path, default=OUT / "applications.csv")
    arguments = parser.parse_args()
    CASES.update({command: (command, command) for command in arguments.command})
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # so that hosts.run ends the ranks of what is running
    arguments.csv.parent.mkdir(parents=True, exist_ok=True)
    rows = []
    with arguments.csv.open("w", newline="") as file:
        writer = csv.DictWriter(file, FIELDS)
        writer.writeheader()
        for ranks in map(int, arguments.ranks.split(",")):
            for case in arguments.command or arguments.only.split(","):
                for host in arguments.hosts.split(","):
                    rows.append(measure(host, case, ranks, arguments.turns))
                    writer.writerow(rows[-1])
                    file.flush()
    print("\n".join(table(rows)))
    return 0


if __name__ == "__main__":
    sys.exit(main())
