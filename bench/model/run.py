#!/usr/bin/env python3
"""The model beside what it models, and beyond.

    bench/model/run.py measure FILE.json [--ranks 2 4 8 16]   (flags_speed: collectives without an MPI)
    bench/model/run.py compare FILE.json                      (predicted beside measured, and whose choice is better)
    bench/model/run.py large                                  (128 and 192 cores: ours, SC18's design, messages)
    bench/model/run.py factors                                (what each choice of SC18 is worth on its machine)
    bench/model/run.py acoll                                  (beside what Open MPI's acoll was published to gain)

`measure` has the machine's costs measured by `millrace simulate --calibrate`; nothing else that is measured is told to
the model. Every algorithm of a call is forced in turn; a time is the least of three rounds. On a virtual machine, whose
processors are moved about, measure into the same file again, some five times: the medians over all passes count, of
points and of costs."""

import argparse
import csv
import json
import math
import os
import pathlib
import statistics
import subprocess

ROOT = pathlib.Path(__file__).resolve().parents[2]
BYTES = [8, 512, 4096, 32768, 262144, 1048576, 4194304]
ALGORITHMS = {
    "barrier": ["pair", "tree", "mesh", "cells"],
    "bcast": ["tree", "cells", "single_copy", "chunks"],
    "reduce": ["tree", "gathered", "mesh", "cells", "chain", "chunks", "slices"],
    "allreduce": ["pair", "tree", "mesh", "cells", "chain", "slices"],
}
OTHERS = ["sc18", "flat", "binomial", "doubling", "ring"]
LARGE = ["pack:2 l3:8 core:8", "pack:2 l3:12 core:8"]
LARGE_BYTES = [8, 64, 512, 4096, 32768, 262144, 1048576, 4194304, 16777216]
CELL_BYTES = 8192  # tree and cells are for what fits
GATHERED_BYTES = 64  # and this for what fits several times
MESH_BYTES = 2048  # and this with room for what is rounded


def run(*words, timeout=900):
    environment = {name: value for name, value in os.environ.items() if not name.startswith("MILLRACE")}
    return subprocess.run(words, capture_output=True, text=True, env=environment, timeout=timeout)


def is_candidate(algorithm, ranks, size):
    if algorithm in ("gathered", "mesh"):
        return ranks > 2 and size <= (GATHERED_BYTES if algorithm == "gathered" else MESH_BYTES)
    small = algorithm in ("tree", "cells")
    return (
        (algorithm != "pair" or ranks == 2) and (algorithm != "tree" or ranks > 2) and (not small or size <= CELL_BYTES)
    )


def measure(build, path, all_ranks):
    costs = run(build / "millrace", "simulate", "--calibrate").stdout.split()
    rows = []
    for ranks in all_ranks:
        for call, algorithms in ALGORITHMS.items():
            for algorithm in algorithms:
                sizes = [0] if call == "barrier" else [size for size in BYTES if is_candidate(algorithm, ranks, size)]
                if not sizes or not is_candidate(algorithm, ranks, 0):
                    continue
                words = ["--ranks", str(ranks), "--rounds", "3", "--csv", "--only", call]
                words += ["--force", f"{call}={algorithm}", "--bytes", ",".join(str(size) for size in sizes)]
                for row in csv.reader(run(build / "bench/flags_speed", *words).stdout.splitlines()):
                    if row[0] == call:
                        rows.append([ranks, call, int(row[1]), algorithm, float(row[2])])
    cores = len(os.sched_getaffinity(0))
    passes = json.loads(path.read_text())["passes"] if path.exists() else []
    passes.append({"costs": costs, "rows": rows})
    path.write_text(json.dumps({"cores": cores, "passes": passes}) + "\n")


def medians(data):
    """Of all passes: the costs, as options, and [*point, ns] of each point."""
    values, points = {}, {}
    for each in data["passes"]:
        for name, text in zip(each["costs"][::2], each["costs"][1::2], strict=True):
            values.setdefault(name, []).append([float(value) for value in text.split(",")])
        for row in each["rows"]:
            points.setdefault(tuple(row[:4]), []).append(row[4])
    costs = []
    for name, all_of in values.items():
        costs += [name, ",".join(f"{statistics.median(column):g}" for column in zip(*all_of, strict=True))]
    return costs, [[*point, statistics.median(ns)] for point, ns in points.items()]


def predict(build, topology, call, size, *words):
    """(ns, algorithm) or nothing, where it does not do that."""
    done = run(build / "millrace", "simulate", "--brief", "--topology", topology, *words, call, str(size))
    if done.returncode != 0:
        return None
    return float(done.stdout.split("cores: ")[1].split(" ns")[0]), done.stdout.split(" by ")[1].split(",")[0]


def calls_for(size):
    """As many as a ring of cells has places several times over: ranks that run ahead run into its end."""
    return "256" if size <= CELL_BYTES else "20" if size < 100000 else "4"


def geometric(values):
    return math.exp(sum(abs(math.log(value)) for value in values) / len(values))


def compare(build, path):
    data = json.loads(path.read_text())
    costs, rows = medians(data)
    print(" ".join(costs) + "\n")
    points = {}
    print("| ranks | call | bytes | algorithm | measured ns | predicted ns | predicted / measured |")
    print("|---|---|---|---|---|---|---|")
    for ranks, call, size, algorithm, ns in rows:
        words = ["--ranks", str(ranks), "--calls", calls_for(size), "--algorithm", algorithm]
        answer = predict(build, f"core:{data['cores']}", call, size, *costs, *words)
        if not answer or answer[1] != algorithm:
            continue
        points.setdefault((ranks, call, size), []).append((answer[0], ns, algorithm))
        print(f"| {ranks} | {call} | {size} | {algorithm} | {ns:.0f} | {answer[0]:.0f} | {answer[0] / ns:.2f} |")
    print()
    for ranks in sorted({key[0] for key in points}):
        each = [one[0] / one[1] for key, all_of in points.items() if key[0] == ranks for one in all_of]
        print(f"{ranks} ranks: wrong by a factor of {geometric(each):.2f} in the geometric mean of {len(each)} points")
    print()
    good, decided = 0, 0
    for (ranks, call, size), candidates in points.items():
        if len(candidates) < 2:
            continue
        decided += 1
        # Of equal predictions the one that stands first above.
        chosen = min(candidates, key=lambda each: (each[0], ALGORITHMS[call].index(each[2])))
        best = min(candidates, key=lambda each: each[1])
        if chosen[1] <= 1.1 * best[1]:
            good += 1
        else:
            print(f"{ranks} ranks, {call} {size}: chooses {chosen[2]}, {chosen[1] / best[1]:.2f} times {best[2]}")
    print(f"\nits choice is within 10 % of the best measured one in {good} of {decided} points")


def best_of_ours(build, topology, call, size):
    """Of all algorithms, where that does not take minutes."""
    if size > 1 << 18:
        return None
    names = [name for name in ALGORITHMS[call] if is_candidate(name, 128, size)]
    answers = [predict(build, topology, call, size, "--algorithm", name) for name in names]
    return min(answer for answer in answers if answer)


def large(build):
    for topology in LARGE:
        print(f"\n`{topology}`, microseconds:\n")
        print("| call | bytes | ours | by | best of ours | " + " | ".join(OTHERS) + " | best of messages / ours |")
        print("|---" * (len(OTHERS) + 6) + "|")
        for call in ALGORITHMS:
            for size in [0] if call == "barrier" else LARGE_BYTES:
                own = predict(build, topology, call, size)
                others = {name: predict(build, topology, call, size, "--other", name) for name in OTHERS}
                cells = [f"{others[name][0] / 1000:.1f}" if others[name] else "" for name in OTHERS]
                messages = min(answer[0] for name, answer in others.items() if answer and name != "sc18")
                best = best_of_ours(build, topology, call, size) or own
                ours = f"{own[0] / 1000:.1f} | {own[1]} | {best[0] / 1000:.1f} {best[1]}"
                print(f"| {call} | {size} | {ours} | {' | '.join(cells)} | {messages / own[0]:.1f} |")


def fixed_ns(build, call, size, tree="", cells=4, across=250):
    """The design of SC18 on two sockets of twenty cores."""
    words = ["--topology", "pack:2 l3:1 core:20", "--line", f"60,110,{across}", "--calls", "4", "--other", "sc18"]
    environment = {name: value for name, value in os.environ.items() if not name.startswith("MILLRACE")}
    environment |= {"MILLRACE_TREE": tree} if tree else {}
    command = [build / "millrace", "simulate", "--brief", *words, "--cells", str(cells), call, str(size)]
    done = subprocess.run(command, check=True, capture_output=True, text=True, env=environment, timeout=900)
    return float(done.stdout.split("cores: ")[1].split(" ns")[0])


def factors(build):
    columns = ["unaware / aware", "aware: 3 / 2 children", "unaware: 2 / 4", "unaware: 3 / 4", "leaders first / last"]
    columns += ["skew left / right", "Reduce 1 / 4 cells", "8 / 4", "Bcast 1 / 4 cells", "8 / 4"]
    for across in (250, 140):
        print(f"\nA line across sockets takes {across} ns:\n\n| bytes | {' | '.join(columns)} |")
        print("|---" * (len(columns) + 1) + "|")
        for size in (8, 64, 256, 512, 1024, 4096, 16384, 65536, 1048576):

            def reduce_ns(tree="", cells=4, size=size, across=across):
                return fixed_ns(build, "reduce", size, tree, cells, across)

            def bcast_ns(cells, size=size, across=across):
                return fixed_ns(build, "bcast", size, "", cells, across)

            best = 3 if size <= 4096 else 2
            aware = reduce_ns(f"kary:{best},socket,leaders-last,small-first")
            three, two = (reduce_ns(f"kary:{arity},socket,leaders-last,small-first") for arity in (3, 2))
            ratios = [reduce_ns("knomial:8" if size <= 16384 else "knomial:2") / aware, three / two]
            ratios += [reduce_ns(f"knomial:{arity}") / reduce_ns("knomial:4") for arity in (2, 3)]
            ratios += [reduce_ns(f"kary:{best},socket,{word}") / aware for word in ("small-first", "leaders-last")]
            ratios += [reduce_ns(cells=cells) / reduce_ns() for cells in (1, 8)]
            ratios += [bcast_ns(cells) / bcast_ns(4) for cells in (1, 8)]
            print(f"| {size} | {' | '.join(f'{ratio:.2f}' for ratio in ratios)} |")


def acoll(build):
    """open-mpi/ompi#12484: two EPYC 9654; latency that acoll takes away from coll/tuned, in the mean of these ranks and
    of 8 bytes to 8 MiB. tuned chooses among algorithms of messages; here that is the best of them, so what is predicted
    to be taken away is rather too little. A line as published for cores of one L3, one socket and two (`--line`)."""
    words = ["--line", "25,110,200"]
    for call, kind, published in (("allreduce", [], 37.7), ("allreduce", ["--integers"], 37.7), ("bcast", [], 39.4)):
        taken = {"ours": [], "sc18": []}
        for ranks in (32, 64, 96, 128, 192):
            row = []
            for size in (8, 32, 128, 512, 2048, 8192, 32768, 131072, 524288, 2097152, 8388608):
                each = [*words, "--ranks", str(ranks), "--calls", "8" if size < 100000 else "1"]
                others = [predict(build, LARGE[1], call, size, *each, "--other", name) for name in OTHERS[2:]]
                messages = min(answer[0] for answer in others if answer)
                times = {"ours": predict(build, LARGE[1], call, size, *each, *kind)[0]}
                times["sc18"] = predict(build, LARGE[1], call, size, *each, "--other", "sc18")[0]
                for name, ns in times.items():
                    taken[name].append(1 - ns / messages)
                row.append(f"{times['ours'] / 1000:.1f}/{messages / 1000:.1f}")
            print(call, *kind, ranks, "ranks, ours / messages, us:", " ".join(row), flush=True)
        means = ", ".join(f"{name} {100 * statistics.mean(values):.1f} %" for name, values in taken.items())
        said = f"taken away from the best of messages: {means}; published of acoll {published} %"
        print(f"{' '.join([call, *kind])}: {said}", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=["measure", "compare", "large", "factors", "acoll"])
    parser.add_argument("file", type=pathlib.Path, nargs="?")
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build")
    parser.add_argument("--ranks", type=int, nargs="+", default=[2, 4, 8, 16])
    arguments = parser.parse_args()
    if arguments.what == "large":
        large(arguments.build)
    elif arguments.what == "factors":
        factors(arguments.build)
    elif arguments.what == "acoll":
        acoll(arguments.build)
    elif not arguments.file:
        parser.error("FILE.json is missing")
    elif arguments.what == "measure":
        measure(arguments.build, arguments.file, arguments.ranks)
    else:
        compare(arguments.build, arguments.file)


if __name__ == "__main__":
    main()
