"""What Millrace costs a job that is over soon: the whole run of a short program with and without it.

    ./dev bench start
    PYTHONPATH=tests/hosts bench/start/run.py [--hosts ...] [--ranks 2] [--work-ms 0,100] [--turns 41]
        [--other OTHER/build/millrace] [--csv FILE]

From the launcher's start to its end, the sides in turns, one job each: alone, with `millrace`, and with that of another
build, if one is named. Shown are the median of the program alone with its quartiles, and the median over turns of what
the others took more, with the interval that holds it with 95 %. The program works for 0 or 100 ms and makes 20
reductions of one number meanwhile.
"""

import argparse
import csv
import os
import pathlib
import statistics
import subprocess
import sys
import time

import hosts

sys.path.insert(0, str(hosts.ROOT / "bench"))
from medians import interval  # noqa: E402

HERE = pathlib.Path(__file__).resolve().parent
OUT = hosts.BUILD / "bench" / "start"


def job_ms(name, ranks, millrace, program, work_ms):
    host = hosts.HOSTS[name]
    env = {**os.environ, **{key: str(value) for key, value in {**host.environment, **host.run_environment}.items()}}
    line = [*host.launcher, "-n", ranks, *([millrace] if millrace else []), program, work_ms]
    begin = time.perf_counter()
    subprocess.run([str(word) for word in line], env=env, check=True, capture_output=True, timeout=60)
    return 1e3 * (time.perf_counter() - begin)


def measure(name, ranks, work_ms, options):
    program = OUT / name / "works"
    sides = {"alone": None, "millrace": hosts.MILLRACE, **({"other": options.other} if options.other else {})}
    for turn in range(options.turns):
        order = list(sides) if turn % 2 else list(reversed(sides))
        took = {side: job_ms(name, ranks, sides[side], program, work_ms) for side in order}
        for side in sides:
            yield {"host": name, "ranks": ranks, "work_ms": work_ms, "turn": turn, "side": side, "ms": took[side]}


def show(rows):
    alone = [row["ms"] for row in rows if row["side"] == "alone"]
    low, middle, high = statistics.quantiles(alone, n=4)
    first = rows[0]
    text = f"| {first['host']} | {first['ranks']} | {first['work_ms']} | {middle:.1f} ({low:.1f} to {high:.1f}) |"
    for side in dict.fromkeys(row["side"] for row in rows if row["side"] != "alone"):
        more = [row["ms"] - bare for row, bare in zip([r for r in rows if r["side"] == side], alone, strict=True)]
        least, most = interval(more)
        median = statistics.median(more)
        text += f" {median:.2f} ({least:.2f} to {most:.2f}), {median / middle:.1%} |"
    print(text, flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--hosts", type=hosts.host_names, default=",".join(hosts.HOSTS))
    parser.add_argument("--ranks", default="2")
    parser.add_argument("--work-ms", default="0,100")
    parser.add_argument("--turns", type=int, default=41)
    parser.add_argument("--other", type=pathlib.Path, help="the launcher of another build")
    parser.add_argument("--csv", type=pathlib.Path)
    options = parser.parse_args()
    rows = []
    print("| host | ranks | works ms | alone ms | with millrace: more ms |" + (" other |" if options.other else ""))
    print("|---|---|---|---|---|" + ("---|" if options.other else ""))
    for name in options.hosts.split(","):
        hosts.compile(name, HERE / "works.c", OUT / name / "works")
        for ranks in map(int, options.ranks.split(",")):
            for work_ms in map(int, options.work_ms.split(",")):
                found = list(measure(name, ranks, work_ms, options))
                rows += found
                show(found)
    if options.csv:
        with options.csv.open("w", newline="") as file:
            writer = csv.DictWriter(file, list(rows[0]))
            writer.writeheader()
            writer.writerows(rows)


if __name__ == "__main__":
    main()
