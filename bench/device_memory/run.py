"""What buffers that may be a GPU's cost a collective: MPI_X under Millrace and PMPI_X in turns within one process.

    PYTHONPATH=tests/hosts bench/device_memory/run.py [--hosts intel] [--ranks 2] [--where none,own,device]

Of memory of the program's own without a GPU's runtime in the process (none), beside an initialised CUDA (own), and of
the GPU's memory (device; with a host that is made for it only). Medians over turns, in us.
"""

import argparse
import pathlib
import statistics
import sys

import hosts

HERE = pathlib.Path(__file__).resolve().parent
OUT = hosts.BUILD / "bench" / "device_memory"
FOR_GPUS = {"intel": {"I_MPI_OFFLOAD": "1", "I_MPI_OFFLOAD_MODE": "cuda", "I_MPI_OFFLOAD_CUDA_LIBRARY": "libcuda.so.1"}}


def measure(name, ranks, where):
    """(call, bytes) -> (ours_us, host_us, ratio), medians."""
    program = hosts.compile(name, HERE / "calls.c", OUT / name / "calls", flags=["-ldl"])
    env = {"MILLRACE_PMPI": "alike", **(FOR_GPUS.get(name, {}) if where != "none" else {})}
    done = hosts.run(name, ranks, [program, where], millrace=True, env=env, timeout=120, bind=ranks <= 2)
    if done.returncode != 0:
        print(f"{name} {where}: {done.stderr[-300:]}", file=sys.stderr)
    turns = {}
    for line in done.stdout.splitlines():
        call, size, _, ours, host = line.split()
        turns.setdefault((call, int(size)), []).append((float(ours) / 1e3, float(host) / 1e3))
    found = {}
    for point, pairs in turns.items():
        ours, host = zip(*pairs, strict=True)
        ratios = (theirs / own for own, theirs in pairs)
        found[point] = statistics.median(ours), statistics.median(host), statistics.median(ratios)
    return found


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--hosts", type=hosts.host_names, default="intel")
    parser.add_argument("--ranks", type=int, default=2)
    parser.add_argument("--where", default="none,own,device")
    options = parser.parse_args()
    print("| host | where | call | bytes | ours, us | the host, us | host / ours |")
    print("|---|---|---|---|---|---|---|")
    for name in options.hosts.split(","):
        for where in options.where.split(","):
            for (call, size), (ours, host, ratio) in measure(name, options.ranks, where).items():
                print(f"| {name} | {where} | {call} | {size} | {ours:.2f} | {host:.2f} | {ratio:.2f} |", flush=True)


if __name__ == "__main__":
    main()
