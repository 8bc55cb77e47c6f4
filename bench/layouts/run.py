"""Derived datatypes through the whole call: Millrace beside the host's own, in turns within one process.

    ./dev bench layouts
    PYTHONPATH=tests/hosts bench/layouts/run.py [--what pack,exchange,collective] [--hosts ...] [--turns 11]
        [--csv DIRECTORY] [--rows vector_1_2_int,...] [--bytes 8192,...]

pack: MPI_Pack and MPI_Unpack of the layouts of docs/results/layout_messages.md, beside PMPI_ and memcpy.
exchange: two ranks, ping-pong and a halo of two messages each way; also with only the sender or the receiver ours.
collective: two ranks, nonblocking collectives; bytes are those of one block.
Medians over the turns; ratios are host / ours, with their quartiles.
"""

import argparse
import csv
import math
import pathlib
import sys

import hosts

HERE = pathlib.Path(__file__).resolve().parent
OUT = hosts.BUILD / "bench" / "layouts"
FIELDS = {
    "exchange": (
        "name",
        "form",
        "bytes",
        "ours_ns",
        "host_ns",
        "sender_ns",
        "receiver_ns",
        "ratio",
        "low",
        "high",
        "sender_ratio",
        "receiver_ratio",
    ),
    "pack": (
        "name",
        "form",
        "state",
        "bytes",
        "ours_ns",
        "host_ns",
        "ratio",
        "low",
        "high",
        "hand_ns",
        "memcpy_ns",
        "touched_ns",
    ),
}
FIELDS["collective"] = ("name", "form", "bytes", "ours_ns", "host_ns", "ratio", "low", "high")
RANKS = {"exchange": 2, "pack": 1, "collective": 2}


def number(word):
    try:
        return float(word) if "." in word else int(word)
    except ValueError:
        return word


def measure(what, host, turns, turn_ms, rows="all", sizes="all", layouts="always"):
    program = hosts.compile(host, HERE / f"{what}.c", OUT / host / what, flags=["-O3", "-march=native", "-Wall"])
    command = [program, turns, turn_ms] + ([rows, sizes] if what == "pack" else [])
    finished = hosts.run(
        host, RANKS[what], command, millrace=True, env={"MILLRACE_LAYOUTS": layouts}, timeout=470, bind=True
    ).check()
    for line in finished.stdout.splitlines():
        values = dict(zip(FIELDS[what], map(number, line.split()), strict=True))
        yield {"host": host, **values}


def geometric_mean(values):
    return math.exp(sum(map(math.log, values)) / len(values)) if values else float("nan")


def table(rows):
    """One line per layout, form and size: the ratios of all hosts."""
    names = list(dict.fromkeys(row["host"] for row in rows))
    keys = list(
        dict.fromkeys(tuple(v for k, v in row.items() if k in ("name", "form", "state", "bytes")) for row in rows)
    )
    yield f"| layout | | bytes | {' | '.join(names)} |"
    yield "|---" * (3 + len(names)) + "|"
    for key in keys:
        own = {row["host"]: row for row in rows if set(key) <= set(row.values()) and row["bytes"] == key[-1]}
        own = {h: r for h, r in own.items() if r["name"] == key[0] and r["form"] == key[1]}
        cells = [f"{own[h]['ratio']:.2f}" if h in own else "" for h in names]
        yield f"| {key[0]} | {' '.join(key[1:-1])} | {key[-1]} | {' | '.join(cells)} |"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--what", default="pack,exchange,collective")
    parser.add_argument("--hosts", type=hosts.host_names, default="openmpi4,openmpi5,mpich4,mpich5,intel,abi")
    parser.add_argument("--layouts", default="always", help="MILLRACE_LAYOUTS; auto shows what users get")
    parser.add_argument("--turns", type=int, default=11)
    parser.add_argument("--turn-ms", type=float, default=1.0)
    parser.add_argument("--rows", default="all", help="of pack: names of layouts")
    parser.add_argument("--bytes", default="all", help="of pack: such as 8192,524288")
    parser.add_argument("--csv", type=pathlib.Path, default=OUT)
    arguments = parser.parse_args()
    arguments.csv.mkdir(parents=True, exist_ok=True)
    for what in arguments.what.split(","):
        rows = []
        for name in arguments.hosts.split(","):
            rows += measure(
                what, name, arguments.turns, arguments.turn_ms, arguments.rows, arguments.bytes, arguments.layouts
            )
        with (arguments.csv / f"{what}.csv").open("w", newline="") as file:
            writer = csv.DictWriter(file, ("host", *FIELDS[what]))
            writer.writeheader()
            writer.writerows(rows)
        print("\n".join(table(rows)))
        print(f"\ngeometric mean of {what}: {geometric_mean([row['ratio'] for row in rows]):.2f}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
