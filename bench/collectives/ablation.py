"""What each optimisation of shared-memory collectives is worth: the same calls with it and without it.

    bench/collectives/ablation.py [--ranks 2] [--turns 5] [--rounds 3] [--csv FILE] [NAME...]

Runs build/bench/flags_speed (forked processes, src/collective alone) with the standard thresholds and with each
variant in turns, and prints for each point the median time of both and the median, over the turns, of
variant / standard: above 1, the optimisation pays. A variant without the optimisation may still be faster: then so it
is said.
"""

import argparse
import collections
import csv
import os
import pathlib
import statistics
import subprocess

BUILD = pathlib.Path(os.environ.get("BUILD_DIR", pathlib.Path(__file__).resolve().parents[2] / "build"))
MOST = "2097152"
SMALL, LARGE = "8,512,4096", "32768,262144," + MOST
TREES = "barrier=tree,bcast=tree,reduce=tree,allreduce=tree"

# name: (what is left out or put in its place, options of flags_speed, bytes, the least number of ranks)
VARIANTS = {
    "pair": ("two ranks: no line that both write, no buffers that change hands", ["--no-pair"], SMALL + "," + LARGE, 2),
    "cells": ("small messages through the ring of chunks", ["--cells-up-to", "0"], SMALL, 2),
    "flat-tree": ("cells along a tree one deep", ["--force", TREES, "--tree", "flat"], SMALL, 3),
    "binary-tree": ("cells along a 2-ary tree", ["--force", TREES, "--tree", "kary:2"], SMALL, 3),
    "binomial-tree": ("cells along a 2-nomial tree", ["--force", TREES, "--tree", "knomial:2"], SMALL, 3),
    "topology": ("a 2-nomial tree that respects sockets", ["--force", TREES, "--tree", "knomial:2,socket"], SMALL, 3),
    "skew": ("a 2-nomial tree, small subtrees first", ["--force", TREES, "--tree", "knomial:2,small-first"], SMALL, 3),
    "inlining": ("no message in the line of its flag", ["--inline", "0"], "8,64,112", 2),
    "chunks": ("chunks of 4 KiB, not 32", ["--slot", "4096", "--chunk", "4096", "--pair-chunk", "4096"], LARGE, 2),
    "run-ahead": ("two calls ahead instead of 64", ["--calls-ahead", "2"], SMALL, 2),
    "pipelining": ("a message is one chunk", ["--slot", MOST, "--chunk", MOST, "--pair-chunk", MOST], LARGE, 2),
    "sharing": ("the root alone reduces", ["--force", "reduce=chunks"], LARGE, 2),
}


def measure(options, ranks, rounds, sizes):
    """(call, bytes) -> least ns of the rounds."""
    command = [BUILD / "bench/flags_speed", "--csv", "--ranks", ranks, "--rounds", rounds, "--bytes", sizes, *options]
    words = [str(word) for word in command]
    lines = subprocess.run(words, capture_output=True, text=True, check=True, timeout=60).stdout.splitlines()
    return {(name, int(size)): float(least) for name, size, least, _ in (line.split(",") for line in lines)}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--ranks", type=int, default=2)
    parser.add_argument("--turns", type=int, default=5)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--csv", type=pathlib.Path)
    parser.add_argument("names", nargs="*", metavar="NAME", help=", ".join(VARIANTS))
    options = parser.parse_args()
    rows = []
    for name in options.names or VARIANTS:
        what, words, sizes, least_ranks = VARIANTS[name]
        if options.ranks < least_ranks:
            continue
        samples = collections.defaultdict(lambda: ([], []))
        for turn in range(options.turns):
            for side in (0, 1) if turn % 2 == 0 else (1, 0):
                for point, ns in measure(words if side else [], options.ranks, options.rounds, sizes).items():
                    samples[point][side].append(ns)
        print(f"{name}: {what}, {options.ranks} ranks")
        for (call, size), (standard, variant) in samples.items():
            if call in ("line one way", "bare flags", "memcpy") or (call == "barrier" and sizes == LARGE):
                continue
            ratio = statistics.median(b / a for a, b in zip(standard, variant, strict=True))
            times = statistics.median(standard), statistics.median(variant)
            rows.append((name, options.ranks, call, size, *times, ratio))
            print("  {2:10} {3:8} B {4:12.0f} ns {5:12.0f} ns  {6:6.2f}".format(*rows[-1]), flush=True)
    if options.csv:
        with options.csv.open("w", newline="") as file:
            writer = csv.writer(file)
            writer.writerow(("variant", "ranks", "call", "bytes", "standard_ns", "variant_ns", "ratio"))
            writer.writerows(rows)


if __name__ == "__main__":
    main()
