"""The component inside Debian's Open MPI against Open MPI's own op/avx: MPI_Reduce_local, nothing preloaded.

    ./dev bench openmpi_component
    PYTHONPATH=tests/hosts bench/openmpi_component/run.py [--rounds 9]

One process each in turns (a component is chosen in MPI_Init); the ratio is the median, over the rounds, of op/avx's
time by ours in neighbouring processes.
"""

import argparse
import pathlib
import statistics

import hosts

HERE = pathlib.Path(__file__).resolve().parent
OUT = hosts.BUILD / "bench" / "openmpi_component"
COMPONENT = hosts.BUILD / "lib" / "millrace" / "openmpi"


def times(program, ours):
    path = {"OMPI_MCA_mca_base_component_path": f"{COMPONENT}:SYSTEM_DEFAULT:USER_DEFAULT"} if ours else {}
    lines = hosts.run("openmpi4", 1, [program], env=path, timeout=120, bind=True).check().stdout.splitlines()
    return {tuple(line.split()[:2]): float(line.split()[2]) for line in lines}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=9)
    arguments = parser.parse_args()
    program = hosts.compile("openmpi4", HERE / "probe.c", OUT / "probe", flags=["-O2"])
    rounds = []
    for number in range(arguments.rounds):
        order = (True, False) if number % 2 else (False, True)
        rounds.append({ours: times(program, ours) for ours in order})
    print("kernel             bytes   ours ns  op/avx ns   op/avx / ours (quartiles)")
    for point in rounds[0][True]:
        ratios = [each[False][point] / each[True][point] for each in rounds]
        low, middle, high = statistics.quantiles(ratios, n=4)
        ours, avx = (statistics.median(each[side][point] for each in rounds) for side in (True, False))
        kernel, size = point
        print(f"{kernel:16} {size:>8} {ours:9.0f} {avx:9.0f} {middle:9.2f} ({low:.2f} to {high:.2f})")


if __name__ == "__main__":
    main()
