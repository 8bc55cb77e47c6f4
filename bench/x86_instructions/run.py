"""Instructions, loads, stores and branches of one MPI_Reduce_local: Millrace's and each host's own, on x86-64.

    ./dev bench x86_instructions
    PYTHONPATH=tests/hosts bench/x86_instructions/run.py [--hosts openmpi4] [--kernel sum_u8] [--bytes 65536]
                                                         [--isa scalar,sse42,avx2,avx512] [--csv FILE]

Counted by stepping through the call (step.cpp): exact, on machines without counters too. What belongs to the call and
not to its bytes drops out: a call with 1024 bytes is taken off. `host` is the host as it is; of Open MPI also `plain`,
its loop without vectors. Before that the counter is checked with a loop whose instructions are known. Needs
libzydis-dev (./dev setup plot).
"""

import argparse
import csv
import pathlib
import sys

import hosts

HERE = pathlib.Path(__file__).resolve().parent
OUT = hosts.BUILD / "bench" / "x86_instructions"
COUNTS = ("instructions", "loads", "stores", "branches", "taken")
FIELDS = ("host", "kernel", "bytes", "side", *COUNTS)
BASE_BYTES = 1024
KNOWN = {"instructions": 4000, "loads": 1000, "stores": 1000, "branches": 1000, "taken": 999}
AROUND_KNOWN = 64  # instructions at most: the call of it, and what is between the breakpoints
WITHOUT_VECTORS = {"OMPI_MCA_op": "^avx"}


def step(name, kernel, size, env):
    """side -> its counts"""
    program = hosts.compile(name, HERE / "step.cpp", OUT / name / "step", flags=["-std=c++20", "-lZydis"])
    finished = hosts.run(name, 1, [program, kernel, size], millrace=True, env=env, timeout=300).check()
    found = {}
    for line in finished.stdout.splitlines():
        side, *numbers = line.split()
        found[side] = dict(zip(COUNTS, map(int, numbers), strict=True))
    wrong = [key for key, least in KNOWN.items() if not least <= found["known"][key] <= least + AROUND_KNOWN]
    if wrong:
        sys.exit(f"a loop of known length is counted wrong: {found['known']}, {wrong}")
    return found


def measure(name, kernel, size, env, names):
    """Rows; names: side of step.cpp -> what it is called"""
    whole, base = (step(name, kernel, each, env) for each in (size, BASE_BYTES))
    for side, called in names.items():
        counts = {key: whole[side][key] - base[side][key] for key in COUNTS}
        yield {"host": name, "kernel": kernel, "bytes": size - BASE_BYTES, "side": called, **counts}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--hosts", type=hosts.host_names, default="openmpi4")
    parser.add_argument("--kernel", default="sum_u8")
    parser.add_argument("--bytes", type=int, default=64 << 10)
    parser.add_argument("--isa", default="scalar,sse42,avx2,avx512", help="of Millrace")
    parser.add_argument("--csv", type=pathlib.Path, default=OUT / "x86_instructions.csv")
    arguments = parser.parse_args()
    arguments.csv.parent.mkdir(parents=True, exist_ok=True)
    rows = []
    for name in arguments.hosts.split(","):
        for isa in arguments.isa.split(","):
            rows += measure(name, arguments.kernel, arguments.bytes, {"MILLRACE_ISA": isa}, {"ours": isa})
        rows += measure(name, arguments.kernel, arguments.bytes, {}, {"host": "host"})
        if hosts.get(name).variant == "openmpi":
            rows += measure(name, arguments.kernel, arguments.bytes, WITHOUT_VECTORS, {"host": "plain"})
    with arguments.csv.open("w", newline="") as file:
        writer = csv.DictWriter(file, FIELDS)
        writer.writeheader()
        writer.writerows(rows)
    for row in rows:
        print(*row.values())
    return 0


if __name__ == "__main__":
    sys.exit(main())
