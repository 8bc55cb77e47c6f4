"""Instructions executed for one MAX of two 4 MiB buffers of float, at each vector length of SVE.

    ./dev bench sve_instructions
    bench/sve_instructions/run.py [--bytes 4194304] [--build DIR] [--csv FILE]

Cross-compiles the kernels (CMake preset aarch64) and runs them under qemu-aarch64 with a plugin that counts every
instruction (count.c). One reduction is the difference between a run with two calls and a run with one: start-up, data
and checksum drop out. (In a second call no left element is greater: the cheapest case for code that branches.) Before
that the counter is checked: two runs with no call must differ by 0, and a loop of two instructions an element must
count as that. Beside the SVE kernel: the scalar and NEON kernels, and the compiler's own loop (plain.c, -O3
-march=armv8.2-a+sve). Exit status 1: a bar is missed.
"""

import argparse
import csv
import os
import pathlib
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]
BUILD = pathlib.Path(os.environ.get("BUILD_DIR", ROOT / "build")).resolve()
VECTOR_BITS = (128, 256, 512, 1024, 2048)
CROSS = "aarch64-linux-gnu-"


def run(*command):
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True, timeout=1800)
    if done.returncode != 0:
        sys.exit(f"{' '.join(map(str, command))}\n{done.stdout}{done.stderr}")
    return done.stdout + done.stderr


def prepare(directory):
    """Compiles the kernels for AArch64, and the plugin for this machine, which is returned."""
    directory.mkdir(parents=True, exist_ok=True)
    run("cmake", "--preset", "aarch64", "-S", ROOT, "-B", directory)
    run("cmake", "--build", directory, "--target", "millrace_kernel", "-j", os.environ.get("JOBS", "2"))
    plugin = directory / "count.so"
    run("cc", "-O2", "-Wall", "-Wextra", "-shared", "-fPIC", "-o", plugin, HERE / "count.c")
    return plugin


def compile_plain(source, directory):
    """The compiler's own loop, as good as it makes it."""
    compiled = directory / f"{source.stem}.o"
    run(CROSS + "gcc-12", "-O3", "-march=armv8.2-a+sve", "-c", "-o", compiled, source)
    return compiled


def link(source, directory, *objects):
    """A program for AArch64 with the kernels in it."""
    program = directory / source.stem
    flags = ["-std=c++20", "-O2", "-Wall", "-Wextra", f"-I{ROOT}/src"]
    run(CROSS + "g++-12", *flags, "-o", program, source, *objects, directory / "src/kernel/libmillrace_kernel.a")
    return program


def build(directory):
    """Compiles the plugin for this machine and the program for AArch64; returns both."""
    plugin = prepare(directory)
    return plugin, link(HERE / "maximum.cpp", directory, compile_plain(HERE / "plain.c", directory))


def store(path, rows):
    """rows: (what, vector bits, instructions)"""
    with path.open("w", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(("what", "vector_bits", "instructions"))
        writer.writerows(rows)


class Counter:
    def __init__(self, plugin, program, size_bytes):
        self.plugin, self.program, self.size_bytes = plugin, program, size_bytes
        self.checksums = set()

    def total(self, which, bits, calls):
        """Instructions of the whole run."""
        output = run(
            "qemu-aarch64",
            "-L",
            "/usr/aarch64-linux-gnu",
            "-cpu",
            f"max,sve-max-vq={bits // 128},sve-default-vector-length={bits // 8}",
            "-plugin",
            self.plugin,
            "-d",
            "plugin",
            self.program,
            which,
            self.size_bytes,
            calls,
        )
        words = output.split()
        if calls and which != "known":
            self.checksums.add(words[words.index("checksum") + 1])
        return int(words[words.index("instructions") + 1])

    def one_call(self, which, bits):
        return self.total(which, bits, 2) - self.total(which, bits, 1)

    def check(self):
        nothing = self.total("sve", 128, 0) - self.total("sve", 128, 0)
        if nothing != 0:
            sys.exit(f"two runs without a call differ by {nothing} instructions")
        around = self.one_call("known", 128) - 2 * (self.size_bytes // 4)
        if not 0 < around < 32:  # the call itself
            sys.exit(f"a loop of known length is counted wrong by {around} instructions")


def bars(scalar, rows):
    """(what, met) for each bar; rows: bits -> (ours, the compiler's)."""
    yield "2048 bits: at least 30x fewer than scalar", scalar >= 30 * rows[2048][0]
    yield "128 bits: at least 2x fewer than scalar", scalar >= 2 * rows[128][0]
    yield "fewer than the compiler's own loop at every length", all(ours < other for ours, other in rows.values())


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bytes", type=int, default=4 << 20)
    parser.add_argument("--build", type=pathlib.Path, default=BUILD / "bench" / "sve_instructions_aarch64")
    parser.add_argument("--csv", type=pathlib.Path)
    options = parser.parse_args()
    counter = Counter(*build(options.build.resolve()), options.bytes)

    counter.check()
    scalar, neon = counter.one_call("scalar", 128), counter.one_call("neon", 128)
    elements = options.bytes // 4
    print(
        f"{options.bytes} bytes of float, MAX: scalar {scalar} instructions ({scalar / elements:.2f} an element), "
        f"NEON {neon} ({scalar / neon:.1f}x fewer)\n"
    )
    print("| vector bits | Millrace SVE | an element | fewer than scalar | compiler's own loop | Millrace / compiler |")
    print("|---:|---:|---:|---:|---:|---:|")
    rows = {}
    for bits in VECTOR_BITS:
        ours, other = rows[bits] = counter.one_call("sve", bits), counter.one_call("plain", bits)
        print(
            f"| {bits} | {ours} | {ours / elements:.3f} | {scalar / ours:.1f}x | {other} | {ours / other:.3f} |",
            flush=True,
        )
    if len(counter.checksums) != 1:
        sys.exit(f"the results differ: {counter.checksums}")
    if options.csv:
        found = [("scalar", bits, scalar) for bits in rows] + [("neon", bits, neon) for bits in rows]
        found += [(what, bits, counts[i]) for i, what in enumerate(("sve", "plain")) for bits, counts in rows.items()]
        store(options.csv, found)
    print()
    missed = 0
    for what, met in bars(scalar, rows):
        print(f"- {what}: {'met' if met else 'MISSED'}")
        missed += not met
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
