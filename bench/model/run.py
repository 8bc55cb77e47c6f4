#!/usr/bin/env python3
"""The model beside what it models: flags_speed measures collectives without an MPI, `millrace simulate` predicts them.

    bench/model/run.py [--build DIR] [--measured 2=FILE.csv ...]    (files: what flags_speed --csv printed)

Of what is measured, the model is told the time of a cache line and the rate of memcpy on as many ranks, and what a
Barrier takes beyond a line; where ranks share cores, the time of a line between two of them, which is mostly that of a
switch. All else is predicted."""

import argparse
import csv
import math
import os
import pathlib
import subprocess

ROOT = pathlib.Path(__file__).resolve().parents[2]
BYTES = [8, 64, 512, 4096, 32768, 262144, 1048576, 4194304]


def measured_rows(build, ranks, path):
    if path:
        text = pathlib.Path(path).read_text()
    else:
        sizes = ",".join(str(size) for size in BYTES)
        command = [build / "bench/flags_speed", "--ranks", str(ranks), "--rounds", "5", "--csv", "--bytes", sizes]
        text = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    return {(row[0], int(row[1])): float(row[3]) for row in csv.reader(text.splitlines())}


def predicted_ns(build, topology, ranks, call, size, costs, calls):
    command = [build / "millrace", "simulate", "--topology", topology, "--ranks", str(ranks), "--brief"]
    command += ["--calls", str(calls), *costs, call, str(size)]
    environment = {name: value for name, value in os.environ.items() if not name.startswith("MILLRACE")}
    done = subprocess.run(command, check=True, capture_output=True, text=True, env=environment)
    return float(done.stdout.split("cores: ")[1].split(" ns")[0]), done.stdout.split(" by ")[1].split(",")[0]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build")
    parser.add_argument("--measured", nargs="*", default=[], metavar="RANKS=FILE")
    arguments = parser.parse_args()
    files = dict(each.split("=", 1) for each in arguments.measured)
    cores = len(os.sched_getaffinity(0))
    errors = {}
    pair = measured_rows(arguments.build, 2, files.get("2"))
    line_ns = pair["line one way", 0]
    rate = max(size / ns for (name, size), ns in pair.items() if name == "memcpy" and size >= 32768)
    call_ns = max(0.0, pair["barrier", 0] - line_ns)
    costs = ["--line", f"{line_ns},{line_ns},{line_ns}", "--copy", f"{rate:.2f}", "--call-ns", f"{call_ns:.1f}"]
    print(f"line {line_ns:.0f} ns, copy {rate:.1f} GB/s, call {call_ns:.0f} ns\n")
    print("| ranks | call | bytes | algorithm | measured ns | predicted ns | predicted / measured |")
    print("|---|---|---|---|---|---|---|")
    for ranks in (2, 4):
        rows = pair if ranks == 2 else measured_rows(arguments.build, ranks, files.get(str(ranks)))
        own = [*costs, "--switch-ns", f"{rows['line one way', 0]}"] if ranks > cores else costs
        for (name, size), ns in rows.items():
            if name not in ("barrier", "bcast", "reduce", "allreduce"):
                continue
            predicted, algorithm = predicted_ns(
                arguments.build, f"core:{min(cores, 2)}", ranks, name, size, own, 20 if size < 100000 else 4
            )
            told = ranks == 2 and name == "barrier"
            if not told:
                errors.setdefault(ranks, []).append(abs(math.log(predicted / ns)))
            print(f"| {ranks} | {name} | {size} | {algorithm} | {ns:.0f} | {predicted:.0f} | {predicted / ns:.2f} |")
    for ranks, each in errors.items():
        print(f"\n{ranks} ranks: wrong by a factor of {math.exp(sum(each) / len(each)):.2f} in the geometric mean")


if __name__ == "__main__":
    main()
