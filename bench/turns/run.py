"""MPI_X under Millrace and PMPI_X, the host's own, in turns within one process: is any call slower than the host's?

    ./dev bench turns
    PYTHONPATH=tests/hosts bench/turns/run.py [--hosts ...]
        [--kinds reduce_local,pack,messages,halos,collectives,rare,nonblocking,persistent]
        [--modes hot,cold,apart] [--only Scatter,...] [--ranks 2,4] [--nodes 2 [--delay-us 100] [--own-ipc]]
        [--env MILLRACE_ISA=avx2,...] [--turns 11] [--launches 1] [--noise] [--csv FILE] [--from FILE] [--refused]

Reductions and packing run on one rank, the rest on as many as --ranks says, cold and apart for collectives, nonblocking
ones too. The ratio of a point is the median over turns of host / ours; it is surely below the bar where even the upper
end of the interval that holds the median with 95 % is. Of several launches each counts once, by the median of its
turns: which ranks share a core, and how far their cores are, a launch keeps. --noise runs the same program without
Millrace, where both sides are the host's. Over nodes what they send is counted, too. --from makes the tables of a file
that --csv has written. --refused leaves every collective to the host by a table, and shows what that costs a call, in
ns, for up to 1 KiB. A short run with a report comes first: where no call is taken there is nothing to measure. What
each kind measures: tools/bench/turns, rare.cpp, persistent.cpp.
"""

import argparse
import contextlib
import csv
import functools
import json
import math
import pathlib
import statistics
import sys
import tempfile

import hosts
import nodes

HERE = pathlib.Path(__file__).resolve().parent
OUT = hosts.BUILD / "bench" / "turns"
WIRE = ("ours_packets", "host_packets", "ours_bytes", "host_bytes")  # that all nodes send for a call
POINT = ("host", "kind", "mode", "ranks", "side", "name", "bytes")
FIELDS = (*POINT, "launch", "turn", "ours_us", "host_us", "line_ns", *WIRE)
LOCAL = ("reduce_local", "pack")
LEFT_TO_HOST = ("barrier", "bcast", "reduce", "allreduce", "gather", "scatter", "allgather", "alltoall")
SMALL_BYTES = 1024
BAR = 0.97


def compiled(name):
    others = [HERE / "rare.cpp", HERE / "persistent.cpp", *sorted(hosts.ROOT.glob("tools/bench/turns/*.cpp"))]
    flags = [*others, "-std=c++20", f"-I{hosts.ROOT}"]
    return hosts.compile(name, HERE / "main.cpp", OUT / name / "turns", flags=flags)


def settings(options):
    pairs = options.env.split(",") if options.env else []
    refused = {"MILLRACE_TUNING": write_table(), "MILLRACE_MEASURE": "never"} if options.refused else {}
    only = {"TURNS_ONLY": options.only} if options.only else {}
    return {"MILLRACE_PMPI": "alike", **refused, **only, **dict(pair.split("=", 1) for pair in pairs)}


def write_table():
    """Everything is the host's."""
    names = ("Open MPI 4", "Open MPI 5", "MPICH 4", "MPICH 5", "Intel MPI 2021")
    path = OUT / "left_to_host.json"
    rows = {name: {kind: [1, None] for kind in LEFT_TO_HOST} for name in names}
    path.write_text(json.dumps({"millrace_tuning": 1, "left_to_host": rows}))
    return path


def launch(name, ranks, line, millrace, env, options, **more):
    """On this machine, or, with --nodes, on as many that are network namespaces, with as many ranks each."""
    if not options.made:
        return hosts.run(name, ranks, line, millrace=millrace, env=env, **more)
    more.pop("bind", None)
    env = {"MILLRACE_NODES": "always", "TURNS_WIRE": nodes.INTERFACE, **env}
    return options.made.run(name, ranks // options.nodes, line, millrace=millrace, env=env, **more)


def taken_share(name, kind, ranks, options):
    """Of the calls under the MPI_ names that Millrace knows how to do."""
    with tempfile.TemporaryDirectory() as directory:
        path = pathlib.Path(directory) / "report.json"
        env = {**settings(options), "MILLRACE_REPORT": path}
        launch(name, ranks, [OUT / name / "turns", kind, "hot", 1, 1], True, env, options, timeout=300)
        reports = sorted(pathlib.Path(directory).glob("report*.json"))  # one of each node
        calls = json.loads(reports[0].read_text())["calls"] if reports else []
    known = [call for call in calls if call["taken"] or call["forwarded_why"]]
    return sum(call["taken"] for call in known) / max(1, sum(call["calls"] for call in known))


def run(name, kind, mode, ranks, millrace, launched, options):
    env = settings(options)
    line = [OUT / name / "turns", kind, mode, options.turns, options.turn_us, options.offset]
    done = launch(name, ranks, line, millrace, env, options, timeout=options.timeout_s, bind=ranks <= 2)
    if done.returncode != 0 or done.timed_out:
        print(f"{name} {kind} {mode} {ranks}: {done.stdout[-200:]} {done.stderr[-300:]}", file=sys.stderr)
    for text in done.stdout.splitlines():
        words = text.split()
        if len(words) == 7 + len(WIRE) and words[0] == kind:
            values = (words[1], int(words[2]), launched, int(words[3]), *map(float, words[4:]))
            side = "millrace" if millrace else "alone"
            yield dict(zip(FIELDS, (name, kind, mode, ranks, side, *values), strict=True))


def interval(values):
    """Of the median: the order statistics that hold it with at least 95 %, whatever the distribution."""
    values, count, outside = sorted(values), len(values), 0.0
    low = 0
    while low < (count - 1) // 2:
        outside += math.comb(count, low) / 2**count
        if 2 * outside > 0.05:
            break
        low += 1
    low = max(low - 1, 0)
    return values[low], values[count - 1 - low]


def points(rows):
    """(host, kind, mode, ranks, side) -> [(name, bytes, ratio, low, high, ours_us, host_us)]"""
    samples = {}
    for row in rows:
        group = tuple(row[field] for field in FIELDS[:5])
        samples.setdefault(group, {}).setdefault((row["name"], int(row["bytes"])), []).append(row)
    for group, named in samples.items():
        found = []
        for (name, size), turns in named.items():
            launches = {}
            for turn in turns:
                ratio = float(turn["host_us"]) / float(turn["ours_us"])
                launches.setdefault(turn.get("launch", 1), []).append(ratio)
            ratios = [statistics.median(each) for each in launches.values()]
            ratios = ratios if len(ratios) > 1 else next(iter(launches.values()))
            times = [statistics.median(float(turn[field]) for turn in turns) for field in ("ours_us", "host_us")]
            found.append((name, size, statistics.median(ratios), *interval(ratios), *times))
        yield group, found


def show(rows, worst):
    print("| host | kind | mode | ranks | side | points | geometric mean | 5 % to 95 % | surely below 0.97 | worst | "
          "medians below |")  # fmt: skip
    print("|---" * 11 + "|")
    for (host, kind, mode, ranks, side), found in points(rows):
        ratios = sorted(point[2] for point in found)
        low, high = (ratios[round(share * (len(ratios) - 1))] for share in (0.05, 0.95))
        below = sorted((point for point in found if point[4] < BAR), key=lambda point: point[2])
        text = ", ".join(f"{name} {size} B {ratio:.2f}" for name, size, ratio, *_ in below[:worst])
        mean = statistics.geometric_mean(ratios)
        print(f"| {host} | {kind} | {mode} | {ranks} | {side} | {len(found)} | {mean:.2f} | {low:.2f} to {high:.2f} | "
              f"{len(below)} | {text} | {sum(ratio < BAR for ratio in ratios)} |", flush=True)  # fmt: skip
    show_wire(rows)
    lines = [float(row["line_ns"]) for row in rows if float(row["line_ns"]) > 0]
    if lines:
        print(f"\na cache line took {min(lines):.0f} to {max(lines):.0f} ns, median {statistics.median(lines):.0f}")


def show_wire(rows):
    """Of runs over nodes: what the host sends for a call over what we send, where either sends anything."""
    samples = {}
    for row in rows:
        if row["side"] == "millrace" and row.get("ours_packets") and float(row["host_packets"]) > 0:
            samples.setdefault(row["host"], {}).setdefault((row["name"], int(row["bytes"])), []).append(row)
    if not samples:
        return
    print("\n| host | points | packets of all nodes, host / ours | bytes | most packets more than the host's |")
    print("|---" * 5 + "|")
    for host, named in samples.items():
        sent = {point: {field: statistics.median(float(turn[field]) for turn in turns) for field in WIRE}
                for point, turns in named.items()}  # fmt: skip
        sent = {point: each for point, each in sent.items() if all(each.values())}
        if not sent:  # the host goes by a memory that the nodes have in common (--own-ipc)
            continue
        means = [
            statistics.geometric_mean(each[f"host_{unit}"] / each[f"ours_{unit}"] for each in sent.values())
            for unit in ("packets", "bytes")
        ]
        (name, size), most = max(sent.items(), key=lambda item: item[1]["ours_packets"] - item[1]["host_packets"])
        print(f"| {host} | {len(sent)} | {means[0]:.2f} | {means[1]:.2f} | {name} {size} B, {most['ours_packets']:.1f} "
              f"to {most['host_packets']:.1f} |", flush=True)  # fmt: skip


def show_refused(rows):
    """By how much the median of our turns is above that of the host's."""
    print("| host | mode | ranks | side | points | ns more a call, median | least to most | of a call of |")
    print("|---|---|---|---|---|---|---|---|")
    for (host, _, mode, ranks, side), found in points(rows):
        more = sorted((1e3 * (point[5] - point[6]), point) for point in found if point[1] <= SMALL_BYTES)
        times = [1e3 * point[6] for _, point in more]
        worst = more[-1][1]
        print(f"| {host} | {mode} | {ranks} | {side} | {len(more)} | {statistics.median(ns for ns, _ in more):.0f} | "
              f"{more[0][0]:.0f} to {more[-1][0]:.0f} ({worst[0]} {worst[1]} B) | "
              f"{min(times):.0f} to {max(times):.0f} |", flush=True)  # fmt: skip


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--hosts", type=hosts.host_names, default=",".join(hosts.HOSTS))
    parser.add_argument("--kinds", default="reduce_local,pack,messages,halos,collectives,rare,nonblocking,persistent")
    parser.add_argument("--modes", default="hot,cold,apart")
    parser.add_argument("--ranks", default="2,4")
    parser.add_argument("--env", help="NAME=VALUE,... for the runs under Millrace")
    parser.add_argument("--turns", type=int, default=11)
    parser.add_argument("--launches", type=int, default=1, help="of each, one after the other")
    parser.add_argument("--turn-us", type=float, default=1000, help="of one side in one turn")
    parser.add_argument(
        "--offset",
        type=int,
        default=16,
        help="bytes of buffers behind the beginning of a page: 16 as malloc places large ones",
    )
    parser.add_argument("--only", help="names of points between commas: Scatter,Alltoall")
    parser.add_argument("--noise", action="store_true", help="also without Millrace")
    parser.add_argument("--worst", type=int, default=4, help="points named in a row")
    parser.add_argument("--timeout-s", type=int, default=900, help="of one kind on one host")
    parser.add_argument("--csv", type=pathlib.Path)
    parser.add_argument("--nodes", type=int, default=1, help="so many, as network namespaces; --ranks are those of all")
    parser.add_argument("--delay-us", type=int, default=0, help="that the wire between nodes adds, each way")
    parser.add_argument(
        "--own-ipc", action="store_true", help="nodes do not share System V's memory (tests/hosts/nodes.py)"
    )
    parser.add_argument("--refused", action="store_true", help="what a call costs that is left to the host")
    parser.add_argument("--from", dest="source", type=pathlib.Path)
    options = parser.parse_args()
    if options.source:
        with options.source.open(newline="") as file:
            rows = list(csv.DictReader(file))
        show_refused(rows) if options.refused else show(rows, options.worst)
        return
    several = options.nodes > 1
    made = functools.partial(nodes.Nodes, options.nodes, options.delay_us, own_ipc=options.own_ipc)
    with made() if several else contextlib.nullcontext() as options.made:
        rows = measure(options)
    if options.csv:
        with options.csv.open("w", newline="") as file:
            writer = csv.DictWriter(file, FIELDS)
            writer.writeheader()
            writer.writerows(rows)
    show_refused(rows) if options.refused else show(rows, options.worst)


def measure(options):
    rows = []
    for name in options.hosts.split(","):
        compiled(name)
    for launched in range(options.launches):
        for name in options.hosts.split(","):
            for kind in options.kinds.split(","):
                rows += measure_kind(name, kind, launched, options)
    return rows


def measure_kind(name, kind, launched, options):
    rows = []
    for mode in options.modes.split(",") if kind in ("collectives", "nonblocking") else ["hot"]:
        for ranks in [1] if kind in LOCAL else map(int, options.ranks.split(",")):
            if launched == 0:
                share = taken_share(name, kind, ranks, options)
                print(f"{name} {kind} {ranks}: {share:.0%} of the calls are ours", file=sys.stderr, flush=True)
            for millrace in (True, False) if options.noise else (True,):
                print(f"{name} {kind} {mode} {ranks} ...", file=sys.stderr, flush=True)
                rows += run(name, kind, mode, ranks, millrace, launched, options)
    return rows


if __name__ == "__main__":
    main()
