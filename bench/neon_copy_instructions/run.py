"""Instructions executed by the NEON shuffles for 1 MiB of packed bytes, beside blocks moved one by one.

    ./dev bench neon_copy_instructions
    bench/neon_copy_instructions/run.py [--bytes 1048576] [--build DIR] [--shapes 4:8,8:12]

Counted as in bench/sve_instructions, whose plugin and counter this uses: one call is the difference between a run with
two calls and a run with one. Instructions are not time. Exit status 1: two kernels wrote different bytes.
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

SHAPES = (
    "4:8,4:12,4:16,4:20,4:28,8:12,8:16,8:20,8:24,8:32,8:40,12:16,12:20,16:24,1:2,1:3,1:4,1:8,2:4,2:6,2:8,"
    "3:4,3:5,6:8,7:9"
)


def build(directory):
    """Compiles the plugin for this machine and the program for AArch64; returns both."""
    plugin = counting.prepare(directory)
    return plugin, counting.link(HERE / "copy_shape.cpp", directory)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bytes", type=int, default=1 << 20)
    parser.add_argument("--build", type=pathlib.Path, default=counting.BUILD / "bench" / "sve_instructions_aarch64")
    parser.add_argument("--shapes", default=SHAPES)
    options = parser.parse_args()
    counter = counting.Counter(*build(options.build.resolve()), options.bytes)
    around = counter.one_call("known", 128) - 2 * (options.bytes // 4)
    if not 0 < around < 32:  # the call itself
        sys.exit(f"a loop of known length is counted wrong by {around} instructions")

    print(f"{options.bytes} packed bytes, instructions of the NEON unit\n")
    print(
        "| block, stride (bytes) | pack: blocks | wide | permute | blocks / permute | unpack: blocks | lane stores | "
        "blocks / lane stores |"
    )
    print("|---|---:|---:|---:|---:|---:|---:|---:|")
    alike = True
    for shape in options.shapes.split(","):
        blocks, wide, permute = (
            counter.one_call(f"pack-{kernel}:{shape}", 128) for kernel in ("blocks", "wide", "permute")
        )
        alike = alike and len(counter.checksums) == 1
        counter.checksums.clear()
        moved, stored = (counter.one_call(f"unpack-{kernel}:{shape}", 128) for kernel in ("blocks", "permute"))
        alike = alike and len(counter.checksums) == 1
        counter.checksums.clear()
        print(
            f"| {shape.replace(':', ', ')} | {blocks} | {wide} | {permute} | {blocks / permute:.1f} | {moved} | "
            f"{stored} | {moved / stored:.1f} |",
            flush=True,
        )
    blocks, permute = (counter.one_call(f"pack-{kernel}:15:24", 128) for kernel in ("blocks", "permute"))
    alike = alike and len(counter.checksums) == 1
    print(f"\npack struct {{int, double, char[3]}}: blocks {blocks}, permute {permute}: {blocks / permute:.1f}")
    if not alike:
        print("\nDIFFERENT bytes were written")
    return 0 if alike else 1


if __name__ == "__main__":
    sys.exit(main())
