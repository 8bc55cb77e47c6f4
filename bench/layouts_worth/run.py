"""Where layouts pack and unpack faster than the hosts: the numbers behind src/layout/worth.cpp.

    ./dev bench layouts_worth
    PYTHONPATH=tests/hosts bench/layouts_worth/run.py [--hosts openmpi4,openmpi5] [--turns 11] [--csv FILE]

One process, no Millrace in front: MPI_Pack and MPI_Unpack of the host and those of the C library in turns, warm; the
median of the ratio host / ours by turn. Prints a table of the least ratio over the hosts.
"""

import argparse
import csv
import pathlib
import sys

import hosts

HERE = pathlib.Path(__file__).resolve().parent
OUT = hosts.BUILD / "bench" / "layouts_worth"
FIELDS = ("host", "what", "block_bytes", "packed_bytes", "host_ns", "ours_ns", "ratio", "low", "high")


def measure(name, turns):
    library = hosts.BUILD / "lib"
    includes = [f"-I{hosts.ROOT}/include", f"-I{hosts.BUILD}/include"]
    flags = [*includes, f"-L{library}", f"-Wl,-rpath,{library}", "-lmillrace"]
    program = hosts.compile(name, HERE / "alternate.c", OUT / name / "alternate", flags=flags)
    finished = hosts.run(name, 1, [program, turns], timeout=900, bind=True).check()
    for line in finished.stdout.splitlines():
        what, *numbers = line.split()
        yield dict(zip(FIELDS, (name, what, *map(int, numbers[:2]), *map(float, numbers[2:])), strict=True))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--hosts", type=hosts.host_names, default="openmpi4,openmpi5,mpich4,mpich5,intel")
    parser.add_argument("--turns", type=int, default=11)
    parser.add_argument("--csv", type=pathlib.Path, default=OUT / "layouts_worth.csv")
    arguments = parser.parse_args()
    OUT.mkdir(parents=True, exist_ok=True)
    rows = []
    for name in arguments.hosts.split(","):
        rows += measure(name, arguments.turns)
    with arguments.csv.open("w", newline="") as file:
        writer = csv.DictWriter(file, FIELDS)
        writer.writeheader()
        writer.writerows(rows)
    least = {}
    for row in rows:
        key = row["what"], row["block_bytes"], row["packed_bytes"]
        least[key] = min(least.get(key, row), row, key=lambda r: r["ratio"])
    print("| layout | block | bytes | least ratio | of | host ns | ours ns |\n|---|---|---|---|---|---|---|")
    for (what, block, packed), row in sorted(least.items()):
        print(
            f"| {what} | {block} | {packed} | {row['ratio']:.2f} | {row['host']} | {row['host_ns']:.0f} "
            f"| {row['ours_ns']:.0f} |"
        )
    return 0


if __name__ == "__main__":
    sys.exit(main())
