"""What is left of a wrong table: by the guard within a run, and after `millrace learn`.

    PYTHONPATH=tests/hosts bench/wrong_tables/run.py [--hosts ...] [--ranks 2] [--rounds 1500] [--repeat 3] [--busy]

A mix of collectives is run with everything ours and with everything the host's; of each class the faster of the two is
what the best table would do. Then with wrong tables (all ours, all the host's, at random), measured in the
job or learned from in a run before. What is printed is the time over that of the best table: the geometric mean over
classes, and the worst. Runs take turns; of each class the median of the runs counts. A cache line may take 50 or 250
ns from one core to the other, for some minutes, and calls take twice as long then: so, where each rank has a core of
its own, near runs are compared with near ones and far with far, and more are made until every way has had so many of
either. --busy: beside two processes that keep both cores busy.
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
NEAR_NS = 130
STATES = ("", "near", "far")


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


def state_of(run):
    """Takes the line out of the times of a run. "": there is none; None: it was near and far."""
    least_ns, most_ns = (run.pop(("line", end), None) for end in (0, 1))
    if least_ns is None:
        return ""
    return "near" if most_ns < NEAR_NS else "far" if least_ns >= NEAR_NS else None


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
    seen = {way: {state: [] for state in STATES} for way in ways}

    def enough(state):
        return all(len(seen[way][state]) >= options.repeat for way in ways)

    for _ in range(4 * options.repeat):
        for way, env in ways.items():
            run = times(host, options, env)
            state = state_of(run)
            if options.busy:
                state = ""
            if state is not None:
                seen[way][state].append(run)
        if any(enough(state) for state in STATES):
            break
    else:
        print(f"{host}: the line between the cores changed too often", file=sys.stderr)
    return {
        state: {
            way: {key: statistics.median(run[key] for run in runs[state]) for key in runs[state][0]}
            for way, runs in seen.items()
        }
        for state in STATES
        if enough(state)
    }


def report(host, options, state, measured):
    best = {key: min(measured["ours", "never"][key], us) for key, us in measured["host", "never"].items()}
    for (name, how), classes in measured.items():
        ratios = {key: us / best[key] for key, us in classes.items()}
        mean = math.exp(statistics.fmean(math.log(ratio) for ratio in ratios.values()))
        worst = max(ratios, key=ratios.get)
        row = (host, options.ranks, state, name, how, f"{mean:.3f}", f"{worst[0]} {worst[1]} B {ratios[worst]:.2f}")
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
    print("| host | ranks | line | table | then | time over the best table's | worst class |\n" + "|---" * 7 + "|")
    try:
        for host in options.hosts.split(","):
            hosts.compile(host, HERE / "mix.c", OUT / host / "mix", flags=["-O2"])
            with tempfile.TemporaryDirectory() as directory:
                for state, measured in measure(host, options, pathlib.Path(directory)).items():
                    report(host, options, state, measured)
    finally:
        for process in busy:
            process.kill()


if __name__ == "__main__":
    main()
