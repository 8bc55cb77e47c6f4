"""Instructions executed for packing 1 MiB of vector(1,2,int), and for copying 1 MiB, at each vector length of SVE.

    ./dev bench sve_copy_instructions
    bench/sve_copy_instructions/run.py [--bytes 1048576] [--build DIR] [--csv FILE]

Counted as in bench/sve_instructions, whose plugin and counter this uses: one call is the difference between a run with
two calls and a run with one. Exit status 1: a bar is missed.
"""

import argparse
import importlib.util
import pathlib
import sys

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]

specification = importlib.util.spec_from_file_location("counting", ROOT / "bench" / "sve_instructions" / "run.py")
counting = importlib.util.module_from_spec(specification)
specification.loader.exec_module(counting)


def build(directory):
    """Compiles the plugin for this machine and the program for AArch64; returns both."""
    plugin = counting.prepare(directory)
    one_vector = counting.compile_plain(HERE / "one_vector.c", directory)
    return plugin, counting.link(HERE / "copy_once.cpp", directory, one_vector)


def check_sums(counter):
    if len(counter.checksums) != 1:
        sys.exit(f"the results differ: {counter.checksums}")
    counter.checksums.clear()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bytes", type=int, default=1 << 20)
    parser.add_argument("--build", type=pathlib.Path, default=counting.BUILD / "bench" / "sve_instructions_aarch64")
    parser.add_argument("--csv", type=pathlib.Path)
    options = parser.parse_args()
    counter = counting.Counter(*build(options.build.resolve()), options.bytes)
    counter.check()
    counter.checksums.clear()

    scalar, neon = counter.one_call("scalar", 128), counter.one_call("neon", 128)
    print(
        f"{options.bytes} packed bytes of vector(1,2,int): block by block {scalar} instructions (scalar unit), "
        f"{neon} (NEON unit)\n"
    )
    found = [(what, bits, count) for what, count in (("scalar", scalar), ("neon", neon))
             for bits in counting.VECTOR_BITS]  # fmt: skip
    print("| vector bits | structure loads | fewer than block by block | gathers | fewer than block by block |")
    print("|---:|---:|---:|---:|---:|")
    for bits in counting.VECTOR_BITS:
        ours, gather = counter.one_call("sve", bits), counter.one_call("gather", bits)
        found += [("sve", bits, ours), ("gather", bits, gather)]
        print(f"| {bits} | {ours} | {scalar / ours:.1f}x | {gather} | {scalar / gather:.1f}x |", flush=True)
    check_sums(counter)
    packing = scalar >= 10 * ours

    print("\n| vector bits | four-vector loads | one vector a turn | share |\n|---:|---:|---:|---:|")
    copying = True
    for bits in counting.VECTOR_BITS:
        four, one = counter.one_call("four", bits), counter.one_call("one", bits)
        found += [("four", bits, four), ("one", bits, one)]
        copying = copying and 4 * four <= one
        print(f"| {bits} | {four} | {one} | {four / one:.3f} |", flush=True)
    check_sums(counter)
    if options.csv:
        counting.store(options.csv, found)
    print(f"\n- packing at 2048 bits at least 10x fewer than block by block: {'met' if packing else 'MISSED'}")
    print(f"- copying with four-vector loads at most 1/4 of one vector a turn: {'met' if copying else 'MISSED'}")
    return 0 if packing and copying else 1


if __name__ == "__main__":
    sys.exit(main())
