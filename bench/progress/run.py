"""A rank works on ranks that wait in a collective: with Millrace's waiting beside the host's own.

    ./dev bench progress
    PYTHONPATH=tests/hosts bench/progress/run.py [--hosts ...] [--ranks 2,3,4,8,16] [--turns 7] [--operations pfosnP]
                                                 [--waits b] [--delay-us 3000] [--compute-ms 500] [--csv FILE]

One process group per host under Millrace; the ranks wait in MPI_ (ours) or in PMPI_ (the host's own), in turns
(probe.c says which operations there are). Prints the median time of an operation of both, in microseconds, and the
median of ours / host by turn; then what waiting costs a rank that computes, and the processor time of those that wait.
"""

import argparse
import csv
import pathlib
import statistics
import sys

import hosts

HERE = pathlib.Path(__file__).resolve().parent
OUT = hosts.BUILD / "bench" / "progress"
NAMES = {
    "p": "lock, put, unlock", "f": "put, flush", "o": "fetch_and_op, flush", "s": "send of 1 MiB", "n": "Iallreduce",
    "P": "partitioned send",
}  # fmt: skip
WAITS = {"b": "Barrier", "B": "Bcast", "a": "Allreduce", "A": "Alltoall"}
MOST = 2.0  # ours / host


def run(name, ranks, arguments, options):
    probe = OUT / name / "probe"
    env = {"MILLRACE_PMPI": "alike", **({"MILLRACE_WAIT": options.wait} if options.wait else {})}
    finished = hosts.run(name, ranks, [probe, *arguments], millrace=True, env=env, timeout=options.timeout_s)
    if finished.returncode != 0 or finished.timed_out:
        print(f"{name}, {ranks} ranks, {arguments}: {finished.stdout[-200:]} {finished.stderr[-300:]}", file=sys.stderr)
        return None
    return [line.split() for line in finished.stdout.splitlines()]


def medians(lines, column=4):
    """(operation, wait) -> (median of the host, of ours, of ours / host by turn)"""
    points = {}
    for line in lines:
        points.setdefault((line[0], line[1]), {"host": [], "ours": []})[line[2]].append(float(line[column]))
    return {
        point: (
            statistics.median(sides["host"]), statistics.median(sides["ours"]),
            statistics.median(ours / max(host, 1e-6) for host, ours in zip(sides["host"], sides["ours"], strict=True)),
        )
        for point, sides in points.items()
    }  # fmt: skip


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--hosts", type=hosts.host_names, default=",".join(hosts.HOSTS))
    parser.add_argument("--ranks", default="2,3,4,8,16")
    parser.add_argument("--turns", type=int, default=7)
    parser.add_argument("--operations", default="pfosnP")
    parser.add_argument("--waits", default="b")
    parser.add_argument("--delay-us", type=int, default=3000, help="that the others have waited before")
    parser.add_argument("--compute-ms", type=int, default=500, help="0: none")
    parser.add_argument("--wait", help="MILLRACE_WAIT")
    parser.add_argument("--timeout-s", type=int, default=120, help="of one operation on one host")
    parser.add_argument("--csv", type=pathlib.Path)
    options = parser.parse_args()
    rows, slow = [], []
    for name in options.hosts.split(","):
        hosts.compile(name, HERE / "probe.c", OUT / name / "probe")
        for ranks in map(int, options.ranks.split(",")):
            for operation in options.operations:
                lines = run(name, ranks, [options.turns, options.delay_us, operation, options.waits], options)
                if lines is None:
                    print(f"{name} {ranks} {NAMES[operation]}: no result")
                    continue
                rows += [[name, ranks, *line] for line in lines]
                for (_, wait), (host, ours, ratio) in medians(lines).items():
                    where = f"{name} {ranks} {NAMES[operation]}, {WAITS[wait]}"
                    print(f"{where}: host {host:.1f} us, Millrace {ours:.1f} us, ratio {ratio:.2f}", flush=True)
                    if ratio > MOST:
                        slow.append(f"{where}: {ratio:.2f}")
            if options.compute_ms == 0:
                continue
            lines = run(name, ranks, [3, 0, "compute", options.compute_ms], options)
            if lines is not None:
                rows += [[name, ranks, *line] for line in lines]
                (ms,), (cpu,) = medians(lines).values(), medians(lines, 5).values()
                print(f"{name} {ranks} {options.compute_ms} ms of work while the others wait: host {ms[0]:.0f} ms, "
                      f"Millrace {ms[1]:.0f} ms; they used {cpu[0]:.2f} and {cpu[1]:.3f} s", flush=True)  # fmt: skip
    if options.csv:
        with options.csv.open("w", newline="") as file:
            csv.writer(file).writerows([["host", "ranks", "operation", "wait", "side", "turn", "us", "cpu_s"], *rows])
    print(f"\n{len(slow)} points where Millrace takes more than {MOST:g} times as long:")
    print("\n".join(slow))


if __name__ == "__main__":
    main()
