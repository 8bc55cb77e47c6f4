"""What Millrace costs: single calls on each host alone, with Millrace, and with Millrace and its report.

    ./dev bench overhead
    PYTHONPATH=tests/hosts bench/overhead/run.py [--hosts openmpi5,mpich5] [--rounds 15] [--csv FILE]

The three sides alternate, one process each, round after round, so that a change in the machine's mood meets all of
them; a number is the median over rounds of the least mean over batches within a process, ± half the distance between
the quartiles; a difference is the median of those within a round, with the interval that holds it with 95 %. Exits
with 1 if a bar is missed beyond doubt.
"""

import argparse
import pathlib
import statistics
import subprocess
import sys
import tempfile

import figures
import hosts

HERE = pathlib.Path(__file__).resolve().parent
OUT = hosts.BUILD / "bench" / "overhead"


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--hosts", type=hosts.host_names, default=",".join(hosts.HOSTS), help="names")
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--csv", type=pathlib.Path, default=OUT / "overhead.csv", help="every sample")
    return parser.parse_args()


def cache_line():
    program = OUT / "cache_line"
    if not program.exists():
        subprocess.run(["cc", "-O2", "-pthread", "-o", program, HERE / "cache_line.c"], check=True)
    done = subprocess.run([program], capture_output=True, text=True, timeout=60)
    return float(done.stdout) if done.returncode == 0 else float("nan")


def sample(host, probe, side, directory):
    """Name of the call -> nanoseconds, from one process."""
    ours = [] if side == "alone" else [str(hosts.MILLRACE)]
    report = pathlib.Path(directory, "report.json")
    report.unlink(missing_ok=True)  # else Millrace says that one was there
    extra = {"MILLRACE_REPORT": report} if side == "on" else {}
    done = hosts.run(host, 1, [probe, "stamp", *ours, probe], env=extra, timeout=120).check()
    if "millrace" in done.stderr:
        raise SystemExit(f"{host.name}, {side}: Millrace did not run as it should\n{done.stderr}")
    if side == "on" and not report.exists():
        raise SystemExit(f"{host.name}: there is no report, so its cost cannot be measured")
    return {name: float(value) for name, value in (line.split() for line in done.stdout.splitlines())}


def measure(host, rounds, directory):
    probe = hosts.compile(host, HERE / "probe.c", OUT / f"probe-{host.name}")
    samples = {}
    for number in range(rounds):
        print(f"\r{host.name}: round {number + 1} of {rounds} ", end="", file=sys.stderr, flush=True)
        for side in figures.SIDES:
            for call, time_ns in sample(host, probe, side, directory).items():
                samples.setdefault(call, {}).setdefault(side, []).append(time_ns)
    print(file=sys.stderr)
    return [figures.Row(host.name, call, by_side) for call, by_side in samples.items()]


def processor():
    lines = pathlib.Path("/proc/cpuinfo").read_text().splitlines()
    return next((line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")), "unknown processor")


def main():
    options = arguments()
    OUT.mkdir(parents=True, exist_ok=True)
    rows, round_trips = [], []
    with tempfile.TemporaryDirectory() as directory:
        for name in options.hosts.split(","):
            round_trips.append(cache_line())
            rows += measure(hosts.get(name), options.rounds, directory)
    round_trips.append(cache_line())
    trips = f"median {statistics.median(round_trips):.0f} ns, {min(round_trips):.0f} to {max(round_trips):.0f} ns"
    print(f"{processor()}; {options.rounds} rounds; round trip of a cache line between two cores: {trips}\n")
    print("\n".join(figures.table(rows)))
    options.csv.write_text("\n".join(figures.csv(rows)) + "\n")
    print(f"\nevery sample: {options.csv}")
    return 1 if figures.missed(rows) else 0


if __name__ == "__main__":
    sys.exit(main())
