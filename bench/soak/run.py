"""An hour of mixed traffic, checked, and whether memory, descriptors and mappings stay flat.

    ./dev bench soak
    PYTHONPATH=tests/hosts bench/soak/run.py [--hosts openmpi5,mpich5] [--ranks 2,4,8] [--minutes 60] [--alone]
                                             [--collectives always]

The time is shared out among hosts and ranks, one after the other. Each row: the most that a rank holds in the
second quarter of its time (by then every kind of thing has been made) and in the last, and by how much it has grown.
"""

import argparse
import pathlib

import hosts

HERE = pathlib.Path(__file__).resolve().parent
OUT = hosts.BUILD / "bench" / "soak"
FIGURES = ("seconds", "calls", "anonymous KiB", "shared KiB", "descriptors", "mappings")


def soak(name, ranks, seconds, seed, millrace, env):
    """The rows of figures, with the second of each in front, and how many results were wrong."""
    program = hosts.compile(name, HERE / "soak.c", OUT / name / "soak")
    words = [program, round(seconds), seed]
    finished = hosts.run(name, ranks, words, millrace=millrace, env=env, timeout=seconds * 2 + 60)
    lines = finished.check().stdout.splitlines()
    rows = [[int(word) for word in line.split()] for line in lines if line[0].isdigit()]
    return rows, int(lines[-1].split()[1])


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--hosts", type=hosts.host_names, default="openmpi5,mpich5")
    parser.add_argument("--ranks", default="2,4,8")
    parser.add_argument("--minutes", type=float, default=60)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--alone", action="store_true", help="the host alone, which may leak, too")
    parser.add_argument("--collectives", help="MILLRACE_COLLECTIVES; always: also communicators of a few calls agree")
    options = parser.parse_args()
    env = {"MILLRACE_COLLECTIVES": options.collectives} if options.collectives else {}
    runs = [(name, int(ranks)) for name in options.hosts.split(",") for ranks in options.ranks.split(",")]
    for name, ranks in runs:
        rows, wrong = soak(name, ranks, options.minutes * 60 / len(runs), options.seed, not options.alone, env)
        print(f"{name}, {ranks} ranks, {rows[-1][0]} s: {rows[-1][1]} calls, {wrong} wrong results", flush=True)
        quarter = len(rows) // 4
        second, last = (map(max, *part) for part in (rows[quarter : 2 * quarter], rows[-quarter:]))
        for figure, begin, end in list(zip(FIGURES, second, last, strict=True))[2:]:
            print(f"  {figure}: {begin} -> {end} ({end - begin:+d})", flush=True)


if __name__ == "__main__":
    main()
