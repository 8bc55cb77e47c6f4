"""What is left of a wrong table: by the guard within a run, and after `millrace learn`.

    PYTHONPATH=tests/hosts bench/wrong_tables/run.py [--hosts ...] [--ranks 2] [--rounds 1500] [--repeat 3] [--busy]

A mix of collectives is run with everything ours and with everything the host's; of each class the faster of the two is
what the best table would do. Then with wrong tables (all ours, all the host's, at random), measured in the
job or learned from in a run before. What is printed is the time over that of the best table: the geometric mean over
classes, and the worst. Runs take turns; of each class the median of the runs counts. --busy: beside two processes that
keep both cores busy.
"""

import argparse
import json
import math
import pathlib
import random
import statistics
import subprocess
import sys
import tempfile

import hosts

HERE = pathlib.Path(__file__).resolve().parent
OUT = hosts.BUILD / "bench" / "wrong_tables"
NAMES = ("Open MPI 4", "Open MPI 5", "MPICH 4", "MPICH 5", "Intel MPI 2021")
KINDS = ("barrier", "bcast", "reduce", "allreduce", "gather", "scatter", "allgather", "alltoall")
OURS, HOSTS = [10**12, None], [1, None]


def table(directory, name, side_of):
    path = directory / f"{name}.json"
    rows = {host: {kind: side_of(kind) for kind in KINDS} for host in NAMES}
    path.write_text(json.dumps({"millrace_tuning": 1, "left_to_host": rows}))
    return path


def times(host, options, env):
    line = [OUT / host / "mix", options.rounds]
    env = {"MILLRACE_PMPI": "alike", **env}
    done = hosts.run(host, options.ranks, line, millrace=True, env=env, timeout=600, bind=options.ranks <= 2)
    done.check()
    words = (text.split() for text in done.stdout.splitlines())
    return {(kind, int(size)): float(us) for kind, size, us in words}


def measure(host, options, directory):
    chance = random.Random(5)
    tables = {
        "everything ours": table(directory, "ours", lambda _: OURS),
        "everything the host's": table(directory, "hosts", lambda _: HOSTS),
        "at random": table(directory, "random", lambda _: chance.choice([OURS, HOSTS])),
    }
    ways = {
        ("ours", "never"): {"MILLRACE_TUNING": tables["everything ours"], "MILLRACE_MEASURE": "never"},
        ("host", "never"): {"MILLRACE_TUNING": tables["everything the host's"], "MILLRACE_MEASURE": "never"},
    }
    for name, path in tables.items():
        ways[name, "guard"] = {"MILLRACE_TUNING": path}
        learned = directory / f"learned-{path.name}"
        learned.write_text(path.read_text())
        for _ in range(2):
            times(host, options, {"MILLRACE_TUNING": learned, "MILLRACE_LEARN": learned})
        ways[name, "learned"] = {"MILLRACE_TUNING": learned, "MILLRACE_MEASURE": "never"}
    seen = {way: [] for way in ways}
    for _ in range(options.repeat):
        for way, env in ways.items():
            seen[way].append(times(host, options, env))
    return {way: {key: statistics.median(run[key] for run in runs) for key in runs[0]} for way, runs in seen.items()}


def report(host, options, measured):
    best = {key: min(measured["ours", "never"][key], us) for key, us in measured["host", "never"].items()}
    for (name, how), classes in measured.items():
        ratios = {key: us / best[key] for key, us in classes.items()}
        mean = math.exp(statistics.fmean(math.log(ratio) for ratio in ratios.values()))
        worst = max(ratios, key=ratios.get)
        row = (host, options.ranks, name, how, f"{mean:.3f}", f"{worst[0]} {worst[1]} B {ratios[worst]:.2f}")
        print("|", " | ".join(str(cell) for cell in row), "|", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--hosts", type=hosts.host_names, default=",".join(hosts.HOSTS))
    parser.add_argument("--ranks", type=int, default=2)
    parser.add_argument("--rounds", type=int, default=1500)
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("--busy", action="store_true")
    options = parser.parse_args()
    busy = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(2 if options.busy else 0)]
    print("| host | ranks | table | then | time over the best table's | worst class |\n|---|---|---|---|---|---|")
    try:
        for host in options.hosts.split(","):
            hosts.compile(host, HERE / "mix.c", OUT / host / "mix", flags=["-O2"])
            with tempfile.TemporaryDirectory() as directory:
                report(host, options, measure(host, options, pathlib.Path(directory)))
    finally:
        for process in busy:
            process.kill()


if __name__ == "__main__":
    main()
