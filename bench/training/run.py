"""Training with gradients of AlexNet's size (61 million floats) by mpi4py: the host, without its vectors, Millrace.

    ./dev bench training
    PYTHONPATH=tests/hosts bench/training/run.py [--hosts openmpi4] [--ranks 2] [--turns 5] [--steps 5] [--csv FILE]

The three in turns, each a job of its own; the first step of each is left out, a job's time is the median of the others.
Data are the 1797 digits of scikit-learn (UCI, optical recognition of handwritten digits), each pixel four times. Each
side's loss has to be that of the first one, to the last digit that is printed: else exit status 1. Needs ./dev setup
plot.
"""

import argparse
import csv
import pathlib
import statistics
import subprocess
import sys

import hosts

HERE = pathlib.Path(__file__).resolve().parent
OUT = hosts.BUILD / "bench" / "training"
# Side: (under Millrace, its environment)
SIDES = {"host, no vectors": (False, {"OMPI_MCA_op": "^avx"}), "host": (False, {}), "Millrace": (True, {})}
FIELDS = ("host", "ranks", "side", "turn", "step_s", "allreduce_s", "loss")
DIGITS = """
import numpy, sys
from sklearn.datasets import load_digits
found = load_digits()
images = (found.images / 16).repeat(2, axis=1).repeat(2, axis=2).reshape(len(found.target), -1)
numpy.savez(sys.argv[1], images=images.astype(numpy.float32), labels=found.target)
"""


def digits():
    path = OUT / "digits.npz"
    if not path.exists():
        OUT.mkdir(parents=True, exist_ok=True)
        subprocess.run([hosts.ENVIRONMENTS / "plot/bin/python", "-c", DIGITS, path], check=True)
    return path


def one_job(host, ranks, side, steps):
    """(seconds of a step, of them in Allreduce, the last loss)"""
    millrace, env = SIDES[side]
    command = [hosts.get(host).python, HERE / "train.py", digits(), steps + 1]
    threads = {"OPENBLAS_NUM_THREADS": 1, "OMP_NUM_THREADS": 1}
    finished = hosts.run(host, ranks, command, millrace=millrace, env={**threads, **env}, timeout=400,
                         bind=ranks <= 2).check()  # fmt: skip
    lines = [tuple(map(float, line.split())) for line in finished.stdout.splitlines()][1:]
    return statistics.median(line[0] for line in lines), statistics.median(line[1] for line in lines), lines[-1][2]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--hosts", type=hosts.host_names, default="openmpi4")
    parser.add_argument("--ranks", type=int, default=2)
    parser.add_argument("--turns", type=int, default=5)
    parser.add_argument("--steps", type=int, default=5)
    parser.add_argument("--csv", type=pathlib.Path, default=OUT / "training.csv")
    arguments = parser.parse_args()
    OUT.mkdir(parents=True, exist_ok=True)
    rows = []
    for host in arguments.hosts.split(","):
        sides = list(SIDES) if hosts.get(host).variant == "openmpi" else ["host", "Millrace"]
        for turn in range(arguments.turns):
            for side in sides if turn % 2 == 0 else sides[::-1]:
                found = one_job(host, arguments.ranks, side, arguments.steps)
                rows.append(dict(zip(FIELDS, (host, arguments.ranks, side, turn, *found), strict=True)))
                print(*rows[-1].values(), flush=True)
    with arguments.csv.open("w", newline="") as file:
        writer = csv.DictWriter(file, FIELDS)
        writer.writeheader()
        writer.writerows(rows)
    losses = {row["loss"] for row in rows}
    if len(losses) > 1:
        print(f"the losses differ: {sorted(losses)}", file=sys.stderr)
    return 1 if len(losses) > 1 else 0


if __name__ == "__main__":
    sys.exit(main())
